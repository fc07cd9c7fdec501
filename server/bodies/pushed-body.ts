import type { BodyReader } from "../../worker/ports.ts";
import { joined } from "../../worker/rules/storing/joined.ts";
import type { NodeBody } from "./node-body.ts";

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
  readonly #pieces: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isRead = false;
  #end: { readonly cause: unknown; readonly isFailure: boolean } | undefined;
  #reader: PromiseWithResolvers<Uint8Array | null> | undefined;

  constructor(lengthBytes: number | null, source: BodySource) {
    this.lengthBytes = lengthBytes;
    this.#source = source;
  }

  /** Whether it has been read, in part or whole. */
  get isRead(): boolean {
    return this.#isRead;
  }

  push(piece: Uint8Array): void {
    if (this.#end || piece.byteLength === 0) return;
    if (this.#reader) {
      this.#reader.resolve(piece);
      this.#reader = undefined;
      return;
    }
    this.#pieces.push(piece);
    this.#waitingBytes += piece.byteLength;
    if (this.#waitingBytes < MAX_WAITING_BYTES || this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  end(): void {
    if (this.#end) return;
    this.#end = { cause: undefined, isFailure: false };
    this.#reader?.resolve(null);
    this.#reader = undefined;
  }

  /** The rest will not come. The reader gets what came before. */
  fail(cause: unknown): void {
    if (this.#end) return;
    this.#end = { cause, isFailure: true };
    this.#reader?.reject(cause);
    this.#reader = undefined;
  }

  read(): BodyReader {
    if (this.#isRead) throw new Error("a body is read at most once");
    this.#isRead = true;
    this.#source.begin?.();
    return { next: () => this.#next(), cancel: () => this.cancel() };
  }

  takeWhole(lengthBytes: number): Uint8Array<ArrayBuffer> | undefined {
    if (this.#isRead || this.#end?.isFailure !== false || this.#waitingBytes !== lengthBytes) return undefined;
    this.#isRead = true;
    const whole = joined(this.#pieces, lengthBytes);
    this.#pieces.length = 0;
    return whole;
  }

  async cancel(cause?: unknown): Promise<void> {
    this.#isRead = true;
    this.#pieces.length = 0;
    this.#waitingBytes = 0;
    if (this.#end) return;
    this.fail(cause ?? new Error("the body was cancelled"));
    this.#source.cancel(cause);
  }

  #next(): Promise<Uint8Array | null> {
    const piece = this.#pieces.shift();
    if (piece) {
      this.#waitingBytes -= piece.byteLength;
      if (this.#isPaused && this.#waitingBytes < MAX_WAITING_BYTES / 2) {
        this.#isPaused = false;
        this.#source.resume();
      }
      return Promise.resolve(piece);
    }
    if (this.#end) return this.#end.isFailure ? Promise.reject(this.#end.cause) : Promise.resolve(null);
    this.#reader = Promise.withResolvers();
    return this.#reader.promise;
  }
}
