import type { OriginPermits } from "../../worker/ports/origin-permits.ts";
import { compareTurns, type Waiting } from "../../worker/rules/queueing/queue-order.ts";
import type { ProcessLine } from "../supervisor/process-line.ts";
import { AFTER_ALL, ASKS_FOR_PERMITS, type PermitMessage, type PermitNews, placeOf } from "./permit-messages.ts";

/** The permits of a worker's sites, leased from the supervisor. */
export class PermitLeases {
  readonly #line: ProcessLine;
  readonly #sites = new Map<string, LeasedPermits>();

  constructor(line: ProcessLine) {
    this.#line = line;
  }

  /**
   * The permits of a site, or of one of its routes. `limit`: for all `workers` of the machine. Each has its part at the
   * start.
   */
  of(site: string, limit: number, workers: number): OriginPermits {
    const permits = new LeasedPermits(site, (message) => this.#line.tell(message));
    const isFirst = this.#sites.size === 0;
    this.#sites.set(site, permits);
    this.#line.tell({ kind: "joins", site, limit, share: Math.floor(limit / workers) } satisfies PermitMessage);
    if (isFirst) void this.#listen();
    return permits;
  }

  /** Hears the supervisor for as long as that lives. Never rejects. */
  async #listen(): Promise<void> {
    try {
      for (;;) {
        const news = (await this.#line.ask(ASKS_FOR_PERMITS)) as readonly PermitNews[] | undefined;
        if (news === undefined) break; // nobody gives out any
        for (const each of news) this.#sites.get(each.site)?.hear(each);
      }
    } catch {
      // The supervisor has died, and this worker finishes its answers.
    }
    for (const permits of this.#sites.values()) permits.keepAll();
  }
}

/** This worker's part of the permits. Unused permits stay here until another worker needs them. */
class LeasedPermits implements OriginPermits {
  onFree: () => void = () => undefined;
  onBrought: OriginPermits["onBrought"] = () => undefined;
  readonly #site: string;
  readonly #tell: (message: PermitMessage) => void;
  #idle = 0;
  /** Others wait. */
  #isShort = false;
  /** The requests that the supervisor knows. Several may have the same place. */
  readonly #told: Waiting[] = [];

  constructor(site: string, tell: (message: PermitMessage) => void) {
    this.#site = site;
    this.#tell = tell;
  }

  take(): boolean {
    if (this.#idle === 0) return false;
    this.#idle--;
    return true;
  }

  giveBack(): void {
    this.#idle++;
    this.#settle();
  }

  bring(waiting: Waiting): void {
    this.#told.push(waiting);
    this.#tell({ kind: "waits", site: this.#site, ...placeOf(waiting) });
  }

  stopBringing(waiting: Waiting): void {
    if (this.#forget(waiting)) this.#tell({ kind: "leaves", site: this.#site, ...placeOf(waiting) });
  }

  bringWhenIdle(): void {
    if (!this.#told.includes(AFTER_ALL)) this.bring(AFTER_ALL);
  }

  hear({ granted, turns, isShort }: PermitNews): void {
    this.#idle += granted;
    this.#isShort = isShort;
    for (const turn of turns) {
      const waiting = this.#told.find((each) => compareTurns(each, turn) === 0);
      if (waiting === undefined) continue; // it has left meanwhile
      this.#forget(waiting);
      this.onBrought(waiting);
    }
    if (granted > 0) this.onFree();
    this.#settle();
  }

  /** Nobody takes any back from now on. */
  keepAll(): void {
    this.#isShort = false;
  }

  /** Idle permits go to the requests that wait: here, or elsewhere by the order in which they came. */
  #settle(): void {
    if (!this.#isShort) this.onFree();
    if (!this.#isShort || this.#idle === 0) return;
    const count = this.#idle;
    this.#idle = 0;
    this.#tell({ kind: "returns", site: this.#site, count });
  }

  #forget(waiting: Waiting): boolean {
    const index = this.#told.indexOf(waiting);
    if (index >= 0) this.#told.splice(index, 1);
    return index >= 0;
  }
}
