import type { Turns } from "../../../package/turns.ts";
import type { BodyReader } from "../../../worker/ports/bodies.ts";
import type { BytePart } from "../../../worker/rules/ranges/range.ts";
import type { NodeBody } from "../../bodies/node-body.ts";
import { BLOCK_BYTES } from "../file-format.ts";
import type { GrowingBody } from "./growing-body.ts";
import type { PageFile } from "./open-pages.ts";

/** An open file of the cache. */
export interface OpenFile {
  readonly page: PageFile;
  /** Where the body begins. */
  readonly bodyAt: number;
  readonly bodyBytes: number;
  /** The body if it is still being written. */
  readonly growing: GrowingBody | null;
  /** Whether what was read at a place is what was written. */
  isIntact(bytes: Uint8Array, at: number): boolean;
  readonly close: () => void;
}

/** Closes files whose bodies were neither read to the end nor cancelled. */
const forgotten = new FinalizationRegistry<() => void>((close) => close());

/**
 * A body in a file, or a part of it, read block by block. Each block is verified before it is passed on, but for one that
 * is still being written. A client that reads slowly keeps one block in memory.
 */
export class FileBody implements NodeBody {
  readonly lengthBytes: number;
  readonly isReadOnDemand = true;
  readonly #turns: Turns;
  readonly #file: OpenFile;
  readonly #torn: () => void;
  readonly #close: () => void;
  #at: number;
  #end: number;
  #isRead = false;
  /** The piece that is asked for. */
  #asked: Promise<Uint8Array | null> = Promise.resolve(null);
  /** The read under way. The descriptor is closed after it, because the system may give its number to another file. */
  #reading: Promise<void> = Promise.resolve();

  /** `torn` is called when a block cannot be read, or differs from what was written. */
  constructor(turns: Turns, file: OpenFile, part: BytePart | null, torn: () => void) {
    this.#turns = turns;
    this.#file = file;
    this.#torn = torn;
    this.#at = part?.first ?? 0;
    this.#end = part ? part.last + 1 : file.bodyBytes;
    this.lengthBytes = this.#end - this.#at;
    let isOpen = true;
    this.#close = () => {
      if (isOpen) file.close();
      isOpen = false;
    };
    forgotten.register(this, this.#close, this);
  }

  read(): BodyReader {
    if (this.#isRead) throw new Error("a body is read at most once");
    this.#isRead = true;
    return {
      next: () => {
        this.#asked = this.#asked.then(() => this.#next());
        return this.#asked;
      },
      skip: (bytes) => {
        this.#at += bytes;
        return bytes;
      },
      cancel: () => this.cancel(),
    };
  }

  async cancel(): Promise<void> {
    this.#isRead = true;
    this.#end = this.#at;
    await this.#reading;
    this.#finish();
  }

  async #next(): Promise<Uint8Array | null> {
    if (this.#at >= this.#end) {
      this.#finish();
      return null;
    }
    const { growing } = this.#file;
    try {
      if (growing) await growing.growsBeyond(this.#at);
      return await this.#turns.take(() => this.#nextBlock());
    } catch (cause) {
      this.#end = this.#at;
      this.#finish();
      if (!this.#file.page.wasClosed) this.#torn();
      throw cause;
    }
  }

  async #nextBlock(): Promise<Uint8Array | null> {
    const end = this.#end; // a cancellation during the read changes it
    if (this.#at >= end) return null; // cancelled while it waited
    const { page, bodyAt, bodyBytes, growing } = this.#file;
    const start = this.#at - (this.#at % BLOCK_BYTES);
    const to = Math.min(start + BLOCK_BYTES, growing?.writtenBytes ?? bodyBytes);
    const from = growing && to < start + BLOCK_BYTES ? this.#at : start;
    const bytes = new Uint8Array(Buffer.allocUnsafeSlow(to - from).buffer);
    const over = Promise.withResolvers<void>();
    this.#reading = over.promise;
    const readBytes = await page.read(bytes, bodyAt + from).finally(over.resolve);
    if (readBytes < bytes.length || !this.#file.isIntact(bytes, from)) throw new Error("a stored body is damaged");
    const piece = bytes.subarray(this.#at - from, Math.min(end, to) - from);
    this.#at += piece.length;
    if (this.#at >= this.#end) this.#finish();
    return piece;
  }

  #finish(): void {
    forgotten.unregister(this);
    this.#close();
  }
}
