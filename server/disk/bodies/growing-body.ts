import type { BlockSums } from "../file-format.ts";

/** A body that is being written: where it is, and how much of it can be read already. */
export class GrowingBody {
  readonly headBytes: number;
  /** As announced. */
  readonly bodyBytes: number;
  readonly #sums: BlockSums;
  /** Of its file; `null` before there is one. */
  path: string | null = null;
  /** How many bytes of the body can be read. */
  writtenBytes = 0;
  /** When some came last, or were first waited for: milliseconds of the process's clock. */
  cameAt: number;
  /** Called once nothing more is written. */
  readonly onEnded = new Set<() => void>();
  hasEnded = false;
  #failure: { readonly cause: unknown } | undefined;
  #waiting: PromiseWithResolvers<void> | undefined;

  /** `sums`: those of the bytes that have come, of which some may not be written yet. */
  constructor(headBytes: number, bodyBytes: number, sums: BlockSums, now: number) {
    this.cameAt = now;
    this.headBytes = headBytes;
    this.bodyBytes = bodyBytes;
    this.#sums = sums;
  }

  /** Its file is there, and empty. */
  begin(path: string): void {
    this.path = path;
    this.#wake();
  }

  grewBy(bytes: number): void {
    this.writtenBytes += bytes;
    this.#wake();
  }

  /** It is whole, and a file as any other. */
  end(path: string): void {
    this.path = path;
    this.#end();
  }

  /** The rest will not come. After the last byte it changes nothing for a reader. */
  fail(cause: unknown): void {
    this.#failure = { cause };
    this.#wake();
    this.#end();
  }

  /** Resolves to whether there is a file. */
  async hasBegun(): Promise<boolean> {
    if (this.path === null && !this.#failure) await this.#change();
    return this.path !== null && !this.#failure;
  }

  /** Resolves once more than `bytes` can be read. Rejects if the rest will not come. */
  async growsBeyond(bytes: number): Promise<void> {
    while (this.writtenBytes <= bytes) {
      if (this.#failure) throw this.#failure.cause;
      await this.#change();
    }
  }

  /** Whether what was read at a place is what was written, if it is a whole block. */
  isIntact(bytes: Uint8Array, at: number): boolean {
    return this.#sums.isIntact(bytes, at);
  }

  #end(): void {
    this.hasEnded = true;
    for (const tell of this.onEnded) tell();
  }

  #change(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    return this.#waiting.promise;
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}
