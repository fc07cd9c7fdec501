import type { Clock } from "../../worker/ports/clock.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { within } from "../../worker/within.ts";

/**
 * How long a receipt waits for other machines' confirmations, in milliseconds. After that, the lease bounds what their
 * processes can serve (R6).
 */
const MACHINES_CONFIRM_WITHIN_MS = 500;

/** A notice may be lost, so the database is asked again after this time. Milliseconds. */
const ASK_AGAIN_MS = 100;

interface Waiter {
  readonly position: Stamp;
  readonly missing: Set<string>;
  wake(): void;
}

/**
 * What the other machines have confirmed (R24). A machine that did not confirm in time is not waited for again until it
 * confirms something.
 */
export class MachineConfirmations {
  readonly #unconfirmed: (position: Stamp) => Promise<ReadonlyMap<string, string>>;
  readonly #clock: Clock;
  readonly #confirmWithinMs: number;
  readonly #onLate: (names: readonly string[]) => void;
  readonly #latest = new Map<string, Stamp>();
  readonly #late = new Set<string>();
  readonly #waiters = new Set<Waiter>();

  /**
   * `unconfirmed`: asks the log which machines have not confirmed a position, for their names. `onLate`: is told of those
   * whose confirmation a receipt does not have.
   */
  constructor(
    unconfirmed: (position: Stamp) => Promise<ReadonlyMap<string, string>>,
    clock: Clock,
    onLate: (names: readonly string[]) => void,
    confirmWithinMs = MACHINES_CONFIRM_WITHIN_MS,
  ) {
    this.#unconfirmed = unconfirmed;
    this.#clock = clock;
    this.#onLate = onLate;
    this.#confirmWithinMs = confirmWithinMs;
  }

  /** A machine has told that it confirmed a position. */
  note(machine: string, position: Stamp): void {
    this.#latest.set(machine, position);
    this.#late.delete(machine);
    for (const waiter of this.#waiters) {
      if (hasReached(position, waiter.position) && waiter.missing.delete(machine)) waiter.wake();
    }
  }

  /** Resolves to whether every other machine has confirmed a position in time. */
  async confirmed(position: Stamp): Promise<boolean> {
    let isOver = false;
    const waiter: Waiter = { position, missing: new Set(), wake: () => undefined };
    const deadline = this.#clock.wait(this.#confirmWithinMs);
    void deadline.over.then(() => {
      isOver = true;
      waiter.wake();
    });
    this.#waiters.add(waiter);
    try {
      for (;;) {
        const names = await this.#unconfirmed(position);
        for (const machine of names.keys()) waiter.missing.add(machine);
        for (const machine of waiter.missing) {
          if (hasReached(this.#latest.get(machine), position)) waiter.missing.delete(machine);
        }
        while (waiter.missing.size > 0 && !isOver && (await this.#isToldOfOne(waiter)));
        if (waiter.missing.size === 0) return true;
        if (isOver) for (const machine of waiter.missing) this.#late.add(machine);
        if ([...waiter.missing].every((machine) => this.#late.has(machine))) {
          this.#onLate([...waiter.missing].map((machine) => names.get(machine)!));
          return false;
        }
        waiter.missing.clear();
      }
    } catch {
      return false; // the log cannot be asked, and the lease bounds what other machines can serve
    } finally {
      deadline.cancel();
      this.#waiters.delete(waiter);
    }
  }

  /** Waits until a machine confirms. Resolves to false if none does before it is time to ask the log again. */
  async #isToldOfOne(waiter: Waiter): Promise<boolean> {
    if ([...waiter.missing].every((machine) => this.#late.has(machine))) return false;
    const told = Promise.withResolvers<boolean>();
    waiter.wake = () => told.resolve(true);
    return within(this.#clock, ASK_AGAIN_MS, told.promise, () => false);
  }
}

function hasReached(confirmed: Stamp | undefined, position: Stamp): boolean {
  return confirmed?.logId === position.logId && confirmed.seq >= position.seq;
}
