/** The changes of a CDN's parts, of its time and of its network, one after another, until the CDN is closed. */
export class Lifecycle {
  #last: Promise<unknown> = Promise.resolve();
  readonly #ended = Promise.withResolvers<void>();
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

  /** Resolves as the event does. Rejects once the CDN is closed, because the event may never come then. */
  async waitFor(call: string, event: Promise<void>): Promise<void> {
    this.checkOpen(call);
    await Promise.race([event, this.#ended.promise.then(() => this.checkOpen(call))]);
  }

  /** Resolves as the event does, or once the CDN is closed. */
  async untilClosed(event: Promise<void>): Promise<void> {
    await Promise.race([event, this.#ended.promise]);
  }

  /** Refuses further changes, and ends all waiting. Resolves once those under way have ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#ended.resolve();
    await this.#last;
  }
}

export const WAS_CLOSED = "this CDN was closed";
