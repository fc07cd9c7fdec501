import type { BodyReader, StreamedBody } from "../../worker/ports/bodies.ts";
import type { BodyFile } from "./body-file.ts";
import { BodyFiles } from "./body-files.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { type NodeBody, nodeBody } from "./node-body.ts";
import { PushedBody } from "./pushed-body.ts";
import { Room } from "./room.ts";

/**
 * The room that a process has for bodies on their way: of requests that it holds, and of answers that it reads ahead.
 */
export interface RoomForBodies {
  readonly memoryBytes: number;
  readonly fileBytes: number;
  /** How many files may be open at a time; `null` without a limit. */
  readonly mostFiles: number | null;
  /** The room for files; `null` for none. */
  readonly folder: string | null;
}

interface Places {
  readonly memory: Room;
  /** `null` without a folder. */
  readonly files: BodyFiles | null;
}

/** The most bytes of one body that are held in memory; the rest is in a file. */
const MOST_IN_MEMORY = 64 * 1024;

/**
 * Reads bodies of requests before the origin is asked, so that a slow client occupies none of the origin's workers.
 * Bytes go to memory first, then to files. A body without room is passed on as it comes.
 */
export class HeldBodies {
  readonly #places: Places;

  constructor({ memoryBytes, fileBytes, mostFiles, folder }: RoomForBodies) {
    const files = folder === null ? null : new BodyFiles(folder, fileBytes, mostFiles);
    this.#places = { memory: new Room(memoryBytes), files };
  }

  /** The memory and the disk in use: bytes. */
  get taken(): { readonly memoryBytes: number; readonly fileBytes: number } {
    const { memory, files } = this.#places;
    return { memoryBytes: memory.taken, fileBytes: files?.bytes.taken ?? 0 };
  }

  /** `Bodies.hold`. */
  async hold(body: StreamedBody, maxBytes: number): Promise<StreamedBody> {
    const source = nodeBody(body);
    const { lengthBytes } = source;
    const { memory, files } = this.#places;
    const room = memory.free + (files?.bytes.free ?? 0);
    if (lengthBytes !== null && lengthBytes > Math.min(maxBytes, room)) return body;
    return new HeldBody(source, this.#places).fill(maxBytes);
  }

  /** `Bodies.readAhead`. */
  readAhead(body: StreamedBody, maxBytes: number): void {
    const { files } = this.#places;
    if (files !== null && body instanceof PushedBody) body.spoolIn({ files, maxBytes });
  }
}

/** A body whose beginning has arrived: first in a file, then in memory. The rest may still be on its way. */
class HeldBody implements NodeBody {
  readonly #source: NodeBody;
  readonly #places: Places;
  readonly #bytes = new GrowingBytes();
  #file: BodyFile | null = null;
  #fileBytes = 0;
  /** The piece that had no room in `#bytes`. */
  #last: Uint8Array | null = null;
  #rest: BodyReader | null = null;
  #lengthBytes: number | null;
  #isDone = false;

  constructor(source: NodeBody, places: Places) {
    this.#source = source;
    this.#places = places;
    this.#lengthBytes = source.lengthBytes;
  }

  get lengthBytes(): number | null {
    return this.#lengthBytes;
  }

  get brokeOff(): boolean {
    return this.#source.brokeOff ?? false;
  }

  /** Resolves when the body is here, or as much of it as there is room for. Rejects if it is cut off. */
  async fill(maxBytes: number): Promise<this> {
    const reader = this.#source.read();
    let bytes = 0;
    try {
      for (let piece = await reader.next(); piece !== null; piece = await reader.next()) {
        bytes += piece.byteLength;
        if (bytes <= maxBytes && (await this.#take(piece))) continue;
        this.#last = piece;
        this.#rest = reader;
        return this;
      }
    } catch (cause) {
      await this.#release();
      throw cause;
    }
    this.#lengthBytes = bytes;
    return this;
  }

  read(): BodyReader {
    return { next: () => this.#next(), cancel: () => this.cancel() };
  }

  async cancel(cause?: unknown): Promise<void> {
    const rest = this.#rest;
    await this.#release();
    if (rest !== null) await this.#source.cancel(cause);
  }

  /** Whether there was room for the piece. */
  async #take(piece: Uint8Array): Promise<boolean> {
    if (this.#bytes.length + piece.byteLength > MOST_IN_MEMORY) return this.#takeInFile(piece);
    const more = this.#bytes.capacityWith(piece.byteLength) - this.#bytes.capacity;
    if (!this.#places.memory.take(more)) return this.#takeInFile(piece);
    this.#bytes.add(piece);
    return true;
  }

  async #takeInFile(piece: Uint8Array): Promise<boolean> {
    const more = this.#bytes.length + piece.byteLength;
    const { files } = this.#places;
    if (!files?.bytes.take(more)) return false;
    this.#fileBytes += more;
    try {
      this.#file ??= await files.create();
      const inMemory = this.#bytes.capacity;
      await this.#file.write(this.#bytes.bytes);
      this.#bytes.clear();
      this.#places.memory.give(inMemory);
      await this.#file.write(piece);
      return true;
    } catch {
      return false; // The disk may be full, or too many files open: the bytes so far are passed on, and the rest as it comes.
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const piece = await this.#file?.read();
    if (piece) return piece;
    if (this.#bytes.length > 0) {
      const { bytes, capacity } = this.#bytes;
      this.#places.memory.give(capacity);
      this.#bytes.clear();
      return bytes;
    }
    if (this.#last !== null) {
      const last = this.#last;
      this.#last = null;
      return last;
    }
    const next = (await this.#rest?.next()) ?? null;
    if (next === null) await this.#release();
    return next;
  }

  /** Gives back what it has taken. */
  async #release(): Promise<void> {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#places.memory.give(this.#bytes.capacity);
    this.#bytes.clear();
    this.#last = null;
    this.#rest = null;
    this.#places.files?.bytes.give(this.#fileBytes);
    await this.#file?.close().catch(() => undefined);
  }
}
