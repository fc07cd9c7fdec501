/** Writes to a stream whose reader may go away, or be given up, at any time. Its methods never reject. */
export class BodySink {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  /**
   * Ends the step under way. There is one for each step: a promise that outlives the steps would keep them all alive.
   */
  #letGo: () => void = () => undefined;
  /** The chunks that wait, one behind the other, so that giving up drops all of them. */
  #delivery: Promise<void> = Promise.resolve();
  isGone = false;

  constructor(writable: WritableStream<Uint8Array>) {
    this.#writer = writable.getWriter();
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

  /** Gives the reader up, with all chunks that wait for it. */
  giveUp(because: string): void {
    this.isGone = true;
    this.#letGo();
    void this.#writer.abort(new Error(because)).catch(() => undefined); // It is gone already.
  }

  #next(step: () => Promise<void>): Promise<void> {
    this.#delivery = this.#delivery.then(async () => {
      if (this.isGone) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#letGo = resolve;
      step().then(resolve, () => {
        this.isGone = true; // The body goes on without this reader.
        resolve();
      });
      await promise;
    });
    return this.#delivery;
  }
}
