/** The starts and stops of a CDN's parts, one after another, until the CDN is closed. */
export class Lifecycle {
  #last: Promise<unknown> = Promise.resolve();
  #hasEnded = false;

  /** Makes a change after those under way. Rejects once the CDN is closed; `call` is for the message. */
  async change(call: string, make: () => Promise<void>): Promise<void> {
    this.checkOpen(call);
    const changing = this.#last.then(make);
    this.#last = changing.catch(() => undefined);
    await changing;
  }

  /** Throws once the CDN is closed. */
  checkOpen(call: string): void {
    if (this.#hasEnded) throw new Error(`${call}: ${WAS_CLOSED}`);
  }

  /** Refuses further changes. Resolves once those under way have ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#last;
  }
}

export const WAS_CLOSED = "this CDN was closed";
