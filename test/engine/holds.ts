/**
 * The events that a scenario can hold back: a reply of the log, the result of a look-up in the shared tier, a removal
 * from it, a copy for the PoP, and a push on its way to a reader.
 */
export type Held = "reply of the log" | "look-up" | "removal" | "shared copy" | "push of the log";

/** Events under way that arrive when the scenario releases them. */
export class Holds {
  readonly #next = new Map<Held, string>();
  readonly #all = new Map<Held, string>();
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  /** Holds back the next event of this kind until `until` is released. */
  holdNext(held: Held, until: string): void {
    this.#next.set(held, until);
    this.#gates.set(until, Promise.withResolvers());
  }

  /** Holds back all events of this kind until `until` is released. */
  holdAll(held: Held, until: string): void {
    this.#all.set(held, until);
    this.#gates.set(until, Promise.withResolvers());
  }

  release(until: string): void {
    this.#gates.get(until)?.resolve();
    this.#gates.delete(until);
  }

  /** Whether the next event of this kind is to be held back. */
  holds(held: Held): boolean {
    return this.#next.has(held) || this.#all.has(held);
  }

  /** Waits if this event is to be held back. */
  async pass(held: Held): Promise<void> {
    const until = this.#next.get(held) ?? this.#all.get(held);
    this.#next.delete(held);
    if (until !== undefined) await this.#gates.get(until)?.promise;
  }
}
