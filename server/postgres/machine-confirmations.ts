import type { Clock } from "../../worker/ports/clock.ts";
import { Settlement } from "../../worker/purges/settlement/settlement.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { within } from "../../worker/within.ts";
import { TimelyConfirmations } from "../log/timely-confirmations.ts";

/**
 * How long a receipt waits for other machines' confirmations, in milliseconds. After that, the lease bounds what their
 * processes can serve (R6).
 */
const MACHINES_CONFIRM_WITHIN_MS = 500;

/** A notice may be lost, so the database is asked again after this time. Milliseconds. */
const ASK_AGAIN_MS = 100;

/**
 * What the other machines have confirmed (R24). A machine that did not confirm in time is not waited for again until it
 * confirms something.
 */
export class MachineConfirmations {
  readonly #unconfirmed: (position: Stamp) => Promise<ReadonlyMap<string, string>>;
  readonly #clock: Clock;
  readonly #onLate: (names: readonly string[]) => void;
  readonly #settlement = new Settlement();
  readonly #inTime: TimelyConfirmations;

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
    this.#inTime = new TimelyConfirmations(clock, confirmWithinMs);
  }

  /** A machine has told that it confirmed a position. */
  note(machine: string, position: Stamp): void {
    const now = this.#clock.now();
    this.#settlement.join(machine, now, now); // It may be forgotten: the log knows what it has confirmed.
    this.#settlement.confirm(machine, position);
    this.#inTime.forgive(machine);
    this.#inTime.decide();
  }

  /** Resolves to whether every other machine has confirmed a position in time. */
  async confirmed(position: Stamp): Promise<boolean> {
    let names: ReadonlyMap<string, string> | null = null;
    const isMissing = (machine: string) => !this.#settlement.hasConfirmed(machine, position);
    const missing = () => names && [...names.keys()].filter(isMissing);
    const receipt = this.#inTime.wait(missing);
    try {
      for (;;) {
        names = await this.#unconfirmed(position);
        this.#inTime.decide();
        if ((await within(this.#clock, ASK_AGAIN_MS, receipt.late, () => null)) === null) continue;
        const late = missing()!; // The wait may have ended before the log gave these names.
        if (late.length > 0) this.#onLate(late.map((machine) => names!.get(machine)!));
        return late.length === 0;
      }
    } catch {
      return false; // the log cannot be asked, and the lease bounds what other machines can serve
    } finally {
      receipt.end();
    }
  }
}
