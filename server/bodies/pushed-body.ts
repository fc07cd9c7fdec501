import type { BodyReader } from "../../worker/ports/bodies.ts";
import { joined } from "../../worker/rules/storing/joined.ts";
import { keptPiece } from "./kept-piece.ts";
import type { NodeBody } from "./node-body.ts";
import { Spool, type SpoolPlace } from "./spool.ts";

/** The source of a body, as its reader controls it. */
export interface BodySource {
  /** The reader wants the first piece. */
  begin?(): void;
  /** Too much waits for the reader, so the source has to stop. */
  pause(): void;
  resume(): void;
  /** Nobody reads the rest. */
  cancel(cause: unknown): void;
}

/** The source stops at this many waiting bytes, or pieces: each piece takes a few hundred bytes more than its own. */
const MAX_WAITING_BYTES = 64 * 1024;
const MAX_WAITING_PIECES = 1024;

/** From this many on, small waiting pieces are joined, because each piece costs its reader more than the copy. */
const MANY_PIECES = 16;
const SMALL_PIECE_BYTES = 4 * 1024;

/** A body whose source pushes its pieces, such as a connection. */
export class PushedBody implements NodeBody {
  readonly lengthBytes: number | null;
  readonly #source: BodySource;
  readonly #pieces: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isRead = false;
  /** Grows with each piece that the reader asks for. */
  taken = 0;
  #brokeOff = false;
  #end: { readonly cause: unknown; readonly isFailure: boolean } | undefined;
  #reader: PromiseWithResolvers<Uint8Array | null> | undefined;
  #spool: Spool | null = null;
  /** Whether pieces go to the spool because earlier ones wait there. */
  #isSpooling = false;

  constructor(lengthBytes: number | null, source: BodySource) {
    this.lengthBytes = lengthBytes;
    this.#source = source;
  }

  /** Whether it has been read, in part or whole. */
  get isRead(): boolean {
    return this.#isRead;
  }

  get brokeOff(): boolean {
    return this.#brokeOff;
  }

  /**
   * From now on, bytes that the reader does not take yet go to the spool. The source pauses only if the spool has no
   * room.
   */
  spoolIn(place: Omit<SpoolPlace, "onFull" | "onRoom">): void {
    if (this.#spool) return;
    this.#spool = new Spool({ ...place, onFull: () => this.#pause(), onRoom: () => this.#resume() });
    this.#resume();
  }

  push(piece: Uint8Array): void {
    if (this.#end || piece.byteLength === 0) return;
    if (this.#isSpooling) {
      this.#spool!.push(piece);
      return;
    }
    if (this.#reader) {
      this.#reader.resolve(piece);
      this.#reader = undefined;
      return;
    }
    this.#pieces.push(piece);
    this.#waitingBytes += piece.byteLength;
    if (this.#waitingBytes < MAX_WAITING_BYTES && this.#pieces.length < MAX_WAITING_PIECES) return;
    if (this.#spool) this.#isSpooling = true;
    else this.#pause();
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  end(): void {
    if (this.#end) return;
    this.#end = { cause: undefined, isFailure: false };
    this.#letGo()?.resolve(null);
  }

  /** The rest will not come. The reader gets what came before. */
  fail(cause: unknown): void {
    if (this.#end) return;
    this.#brokeOff = true;
    this.#endBy(cause);
  }

  #endBy(cause: unknown): void {
    this.#end = { cause, isFailure: true };
    this.#letGo()?.reject(cause);
  }

  /** The reader that waits, if one does. Then it has had everything that was spooled, and needs no file any more. */
  #letGo(): PromiseWithResolvers<Uint8Array | null> | undefined {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader) void this.#spool?.close();
    return reader;
  }

  read(): BodyReader {
    if (this.#isRead) throw new Error("a body is read at most once");
    this.#isRead = true;
    this.#source.begin?.();
    const next = () => {
      this.taken++;
      return this.#next();
    };
    return { next, cancel: () => this.cancel() };
  }

  takeWhole(lengthBytes: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.#isRead || this.#end?.isFailure !== false || this.#waitingBytes !== lengthBytes) return undefined;
    this.#isRead = true;
    const pieces = this.#pieces.splice(0);
    return pieces.length === 1 ? keptPiece(pieces[0]!) : joined(pieces, lengthBytes);
  }

  async cancel(cause?: unknown): Promise<void> {
    this.#isRead = true;
    this.#pieces.length = 0;
    this.#waitingBytes = 0;
    if (!this.#end) {
      this.#endBy(cause ?? new Error("the body was cancelled"));
      this.#source.cancel(cause);
    }
    await this.#spool?.close();
  }

  #next(): Promise<Uint8Array | null> {
    const piece = this.#takePiece();
    if (piece) {
      this.#waitingBytes -= piece.byteLength;
      const hasRoom = this.#waitingBytes < MAX_WAITING_BYTES / 2 && this.#pieces.length < MAX_WAITING_PIECES / 2;
      if (hasRoom && !this.#isSpooling) this.#resume();
      return Promise.resolve(piece);
    }
    if (this.#isSpooling) return this.#nextOfSpool(this.#spool!);
    if (this.#end) return this.#atEnd(this.#end);
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }

  async #atEnd({ isFailure, cause }: { readonly isFailure: boolean; readonly cause: unknown }): Promise<null> {
    await this.#spool?.close();
    if (isFailure) throw cause;
    return null;
  }

  async #nextOfSpool(spool: Spool): Promise<Uint8Array | null> {
    while (!spool.isEmpty) {
      const piece = await spool.next();
      if (piece !== null) return piece;
    }
    this.#isSpooling = false;
    return this.#next();
  }

  #takePiece(): Uint8Array | undefined {
    const pieces = this.#pieces;
    let count = 0;
    let bytes = 0;
    for (const { byteLength } of pieces) {
      if (byteLength >= SMALL_PIECE_BYTES) break;
      count++;
      bytes += byteLength;
    }
    return count < MANY_PIECES ? pieces.shift() : joined(pieces.splice(0, count), bytes);
  }
}
