import type { BodyFile } from "./body-file.ts";
import type { BodyFiles } from "./body-files.ts";
import { WaitingPieces } from "./waiting-pieces.ts";

/** The source stops while this much waits to be written, because the disk is slower. */
const MOST_UNWRITTEN = 256 * 1024;

/** A file that holds nothing any more is kept for later bytes if it takes no more room than this: bytes. */
const MOST_KEPT_FILE = 256 * 1024;

export interface SpoolPlace {
  readonly files: BodyFiles;
  /** The most that is in the file at a time. */
  readonly maxBytes: number;
  /** Called when there is no room for more, and when there is room again. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
}

/** Bytes for which a reader is not ready yet: they wait in a file, and come out in their order. */
export class Spool {
  readonly #place: SpoolPlace;
  readonly #unwritten = new WaitingPieces();
  #file: BodyFile | null = null;
  #closed: Promise<void> = Promise.resolve();
  /** The bytes in the file that nobody has read yet, and those on their way there. */
  #inFileBytes = 0;
  /** The room that the file takes. */
  #roomBytes = 0;
  /** Whether the file no longer grows, because bytes have come to its start again. */
  #isRound = false;
  #writing: Promise<void> | null = null;
  #isFull = false;
  #isClosed = false;

  constructor(place: SpoolPlace) {
    this.#place = place;
  }

  get isEmpty(): boolean {
    return this.#unwritten.bytes === 0 && this.#roomBytes === 0;
  }

  /** Takes a piece, even if there is no room for it. */
  push(piece: Uint8Array): void {
    this.#unwritten.push(piece);
    this.#writing ??= this.#write();
    if (this.#unwritten.bytes >= MOST_UNWRITTEN) this.#noteFull();
  }

  /** The next bytes; `null` if there are none now. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const piece = (await this.#file?.read(this.#roomBytes)) ?? null;
      if (piece !== null) {
        this.#inFileBytes -= piece.byteLength;
        if (this.#unwritten.bytes > 0) this.#writing ??= this.#write();
        return piece;
      }
      if (this.#writing === null) break;
      await this.#writing;
    }
    if (this.#giveRoom() > MOST_KEPT_FILE) void this.#closeFile();
    else this.#file?.empty();
    const first = this.#unwritten.shift() ?? null;
    this.#noteRoom();
    return first;
  }

  /** Gives everything back. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unwritten.clear();
    await this.#writing;
    this.#giveRoom();
    await this.#closeFile();
  }

  /**
   * Writes the waiting bytes while there is room. Never rejects: bytes that cannot be written stay in memory, and the
   * source stops.
   */
  async #write(): Promise<void> {
    await null; // Pieces that come in the same turn are written together.
    const { files } = this.#place;
    while (this.#unwritten.bytes > 0) {
      const { bytes } = this.#unwritten;
      const roomBefore = this.#roomBytes;
      if (!this.#makeRoom(bytes)) break;
      const batch = this.#unwritten.takeAll();
      this.#inFileBytes += bytes;
      try {
        this.#file ??= await files.create();
        await this.#file.write(batch, this.#roomBytes);
      } catch {
        files.bytes.give(this.#roomBytes - roomBefore);
        this.#roomBytes = roomBefore;
        this.#inFileBytes -= bytes;
        this.#unwritten.unshift(batch);
        break;
      }
    }
    this.#writing = null;
    if (this.#unwritten.bytes > 0) this.#noteFull();
    else this.#noteRoom();
  }

  /** At the end of the file, or at its start if that has been read. Returns whether there is room for so many bytes. */
  #makeRoom(bytes: number): boolean {
    const { files, maxBytes } = this.#place;
    const grows = !this.#isRound && this.#roomBytes + bytes <= maxBytes && files.bytes.take(bytes);
    if (grows) this.#roomBytes += bytes;
    else if (this.#inFileBytes + bytes > this.#roomBytes) return false;
    else this.#isRound = true;
    return true;
  }

  /** Nobody needs what is in the file any more. Returns how much room it took: bytes. */
  #giveRoom(): number {
    const bytes = this.#roomBytes;
    this.#place.files.bytes.give(bytes);
    this.#inFileBytes = 0;
    this.#roomBytes = 0;
    this.#isRound = false;
    return bytes;
  }

  /** Resolves when all files are closed. The next write makes another one. */
  #closeFile(): Promise<void> {
    const closed = this.#file?.close().catch(() => undefined);
    this.#closed = this.#closed.then(() => closed);
    this.#file = null;
    return this.#closed;
  }

  #noteFull(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.#place.onFull();
  }

  #noteRoom(): void {
    if (!this.#isFull || this.#unwritten.bytes > 0) return;
    this.#isFull = false;
    this.#place.onRoom();
  }
}
