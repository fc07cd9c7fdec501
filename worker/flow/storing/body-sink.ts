import type { BodyWriter } from "../../ports/bodies.ts";

/** Writes to a stream whose reader may disappear, or be given up, at any time. The methods never reject. */
export class BodySink {
  readonly #writer: BodyWriter;
  /**
   * Ends the current step. Each step has its own promise, because a promise for all steps would keep each of them in
   * memory.
   */
  #letGo: () => void = () => undefined;
  /** The chunks that wait, in order. Giving up drops all of them. */
  #delivery: Promise<void> = Promise.resolve();
  isGone = false;
  /** Called once the reader has gone. */
  onGone: () => void = () => undefined;
  #given = 0;
  /** How many steps the reader has taken, or will not take because it has gone. */
  taken = 0;

  constructor(writer: BodyWriter) {
    this.#writer = writer;
    writer.whenGone(() => this.#leave());
  }

  /** Grows whenever the reader takes something, also of what the stream holds for it. */
  get progress(): number {
    return this.taken + (this.#writer.taken?.() ?? 0);
  }

  /** Whether anything waits for the reader. */
  get waits(): boolean {
    return this.#given > this.taken;
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#next(() => this.#writer.write(chunk));
  }

  close(): Promise<void> {
    return this.#next(() => this.#writer.close());
  }

  abort(cause: unknown): Promise<void> {
    return this.#next(() => this.#writer.abort(cause));
  }

  /** Gives up the reader, and drops all chunks that wait for it. */
  giveUp(because: string): void {
    this.#leave();
    this.#letGo();
    void this.#writer.abort(new Error(because)).catch(() => undefined); // The reader has already gone.
  }

  #leave(): void {
    if (this.isGone) return;
    this.isGone = true;
    this.onGone();
  }

  #next(step: () => Promise<void>): Promise<void> {
    this.#given++;
    this.#delivery = this.#delivery.then(async () => {
      if (!this.isGone) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#letGo = resolve;
        step().then(resolve, () => {
          this.#leave(); // The rest of the body is not sent to this reader.
          resolve();
        });
        await promise;
      }
      this.taken++;
    });
    return this.#delivery;
  }
}
