/** What a scenario can hold back: a reply of the log, what a look-up in the shared tier has found, a copy for the PoP. */
export type Held = "reply of the log" | "look-up" | "shared copy";

/** What is under way and arrives when the scenario says so. */
export class Holds {
  readonly #next = new Map<Held, string>();
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  /** The next of its kind arrives when `until` is released. */
  holdNext(held: Held, until: string): void {
    this.#next.set(held, until);
    this.#gates.set(until, Promise.withResolvers());
  }

  release(until: string): void {
    this.#gates.get(until)?.resolve();
    this.#gates.delete(until);
  }

  /** Waits if this one is to be held. */
  async pass(held: Held): Promise<void> {
    const until = this.#next.get(held);
    this.#next.delete(held);
    if (until !== undefined) await this.#gates.get(until)?.promise;
  }
}
