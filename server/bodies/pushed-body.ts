import type { BodyReader } from "../../worker/ports/bodies.ts";
import { keptPiece } from "./kept-piece.ts";
import type { NodeBody } from "./node-body.ts";
import { Spool, type SpoolPlace } from "./spool.ts";
import { WaitingPieces } from "./waiting-pieces.ts";

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

/** The source stops at this many waiting bytes. */
const MAX_WAITING_BYTES = 64 * 1024;

/** A body whose source pushes its pieces, such as a connection. */
export class PushedBody implements NodeBody {
  readonly lengthBytes: number | null;
  readonly #source: BodySource;
  readonly #waiting = new WaitingPieces();
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
    this.#waiting.push(piece);
    if (this.#waiting.bytes < MAX_WAITING_BYTES) return;
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
    if (this.#isRead || this.#end?.isFailure !== false || this.#waiting.bytes !== lengthBytes) return undefined;
    this.#isRead = true;
    return keptPiece(this.#waiting.takeAll());
  }

  async cancel(cause?: unknown): Promise<void> {
    this.#isRead = true;
    this.#waiting.clear();
    if (!this.#end) {
      this.#endBy(cause ?? new Error("the body was cancelled"));
      this.#source.cancel(cause);
    }
    await this.#spool?.close();
  }

  #next(): Promise<Uint8Array | null> {
    const piece = this.#waiting.shift();
    if (piece) {
      if (this.#waiting.bytes < MAX_WAITING_BYTES / 2 && !this.#isSpooling) this.#resume();
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
}
