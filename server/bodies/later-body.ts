import type { BodyReader, StreamedBody } from "../../worker/ports/bodies.ts";
import { type NodeBody, nodeBody } from "./node-body.ts";

/** A body that is made when its reader asks for the first piece, so that it holds nothing before. */
export class LaterBody implements NodeBody {
  readonly lengthBytes: number;
  readonly isReadOnDemand = true;
  readonly #make: () => StreamedBody;
  readonly #drop: () => unknown;
  #made: NodeBody | undefined;
  #reader: BodyReader | undefined;
  #isCancelled = false;

  /** `drop` is called in place of `make` if nobody reads it. */
  constructor(lengthBytes: number, make: () => StreamedBody, drop: () => unknown) {
    this.lengthBytes = lengthBytes;
    this.#make = make;
    this.#drop = drop;
  }

  get brokeOff(): boolean {
    return this.#made?.brokeOff ?? false;
  }

  read(): BodyReader {
    return { next: () => this.#next(), cancel: () => this.cancel() };
  }

  async #next(): Promise<Uint8Array | null> {
    if (this.#isCancelled) throw new Error("the body was cancelled");
    this.#made ??= nodeBody(this.#make());
    this.#reader ??= this.#made.read();
    return this.#reader.next();
  }

  async cancel(cause?: unknown): Promise<void> {
    if (this.#made) return this.#made.cancel(cause);
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    await this.#drop();
  }
}
