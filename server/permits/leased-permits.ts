import type { OriginPermits } from "../../worker/ports/origin-permits.ts";
import { compareTurns, type Waiting } from "../../worker/rules/queueing/queue-order.ts";
import { hearNews, type ProcessLine } from "../supervisor/process-line.ts";
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
    const share = Math.floor(limit / workers);
    const permits = new LeasedPermits(site, share, (message) => this.#line.tell(message));
    const isFirst = this.#sites.size === 0;
    this.#sites.set(site, permits);
    this.#line.tell({ kind: "joins", site, limit, share } satisfies PermitMessage);
    if (isFirst) void this.#listen();
    return permits;
  }

  /** This worker finishes its answers, and ends. */
  retire(): void {
    for (const permits of this.#sites.values()) permits.retire();
  }

  /** Hears the supervisor for as long as that lives. Never rejects. */
  async #listen(): Promise<void> {
    await hearNews(this.#line, ASKS_FOR_PERMITS, (news: readonly PermitNews[]) => {
      for (const each of news) this.#sites.get(each.site)?.hear(each);
    });
    for (const permits of this.#sites.values()) permits.takeShare();
  }
}

/** More recent misses than any client has. */
const HEAD_START = 1_000_000;

/** This worker's part of the permits. Unused permits stay here until another worker needs them. */
class LeasedPermits implements OriginPermits {
  onFree: () => void = () => undefined;
  onBrought: OriginPermits["onBrought"] = () => undefined;
  readonly #site: string;
  readonly #tell: (message: PermitMessage) => void;
  #idle = 0;
  /** So many more it has once the supervisor is gone: its share without those that it has. Negative if it has more. */
  #missing: number;
  /** Others wait. */
  #isShort = false;
  #isRetired = false;
  /** The requests that the supervisor knows, with the places that it knows. Several may have the same place. */
  readonly #told = new Map<Waiting, Waiting>();

  /** `share`: its part at the start. One is needed to answer what waits. */
  constructor(site: string, share: number, tell: (message: PermitMessage) => void) {
    this.#site = site;
    this.#missing = Math.max(1, share);
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
    const place = this.#placeOf(waiting);
    this.#told.set(waiting, place);
    this.#tell({ kind: "waits", site: this.#site, ...place });
  }

  stopBringing(waiting: Waiting): void {
    const place = this.#told.get(waiting);
    if (place === undefined) return;
    this.#told.delete(waiting);
    this.#tell({ kind: "leaves", site: this.#site, ...place });
  }

  bringWhenIdle(): void {
    if (!this.#told.has(AFTER_ALL)) this.bring(AFTER_ALL);
  }

  /** New workers have counted no misses yet, so what comes to them would go before the requests that wait here. */
  retire(): void {
    this.#isRetired = true;
    for (const waiting of [...this.#told.keys()]) {
      this.stopBringing(waiting);
      this.bring(waiting);
    }
  }

  hear({ granted, turns, isShort }: PermitNews): void {
    this.#idle += granted;
    this.#missing -= granted;
    this.#isShort = isShort;
    for (const turn of turns) {
      const told = [...this.#told].find(([, place]) => compareTurns(place, turn) === 0);
      if (told === undefined) continue; // it has left meanwhile
      this.#told.delete(told[0]);
      this.onBrought(told[0]);
    }
    if (granted > 0) this.onFree();
    this.#settle();
  }

  /** Nobody gives it any or takes any back from now on. */
  takeShare(): void {
    this.hear({ site: this.#site, granted: Math.max(0, this.#missing), turns: [], isShort: false });
  }

  /** Idle permits go to the requests that wait: here, or elsewhere by the order in which they came. */
  #settle(): void {
    if (!this.#isShort) this.onFree();
    if (!this.#isShort || this.#idle === 0) return;
    const count = this.#idle;
    this.#idle = 0;
    this.#missing += count;
    this.#tell({ kind: "returns", site: this.#site, count });
  }

  #placeOf(waiting: Waiting): Waiting {
    const place = placeOf(waiting);
    return this.#isRetired ? { ...place, recentMisses: place.recentMisses - HEAD_START } : place;
  }
}
