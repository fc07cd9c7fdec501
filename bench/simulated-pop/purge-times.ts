import type { NewPurge } from "../../worker/ports/purge-log.ts";
import type { ReadYourWritesLog } from "../../worker/purges/lease/read-your-writes-log.ts";
import type { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import { LatencyHistogram } from "../frame/latency-histogram.ts";
import type { DiscreteEventClock } from "./discrete-event-clock.ts";
import type { PushingLog } from "./pushing-log.ts";
import { BEHIND } from "./simulated-lease.ts";

/** What is told of the purges of a row. */
export interface PurgeFigures {
  /** From the number that the log gave until the last isolate had read it. */
  readonly seen: LatencyHistogram;
  /** From the sending of the purge, to the answer that it has settled. */
  readonly settled: LatencyHistogram;
  /** Uses of a view without a purge after the backend had been told that it has settled. */
  readonly late: number;
}

/** The round trips of the city in which a backend purges: from it to the edge, and from the edge to the log. */
interface Distance {
  readonly clientMs: number;
  readonly logMs: number;
}

/** Times purges of the real log and leases, from their sending until the last reader has them and they have settled. */
export class PurgeTimes implements PurgeFigures {
  readonly seen = new LatencyHistogram();
  readonly settled = new LatencyHistogram();
  late = 0;
  readonly #clock: DiscreteEventClock;
  readonly #log: PushingLog;
  /** Purges that some reader has not seen. */
  readonly #unseen = new Map<number, { readonly numberedAt: number; readonly missing: Set<ViewLease> }>();
  #highestSettled = 0;

  constructor(clock: DiscreteEventClock, log: PushingLog) {
    this.#clock = clock;
    this.#log = log;
  }

  get figures(): PurgeFigures {
    const { seen, settled, late } = this;
    return { seen, settled, late };
  }

  /** A reader may have got something from the log. */
  noteNews(lease: ViewLease): void {
    this.#noteSeen(lease, lease.stamp()?.seq ?? 0);
  }

  /** An isolate has ended, and is not waited for. */
  noteEnd(lease: ViewLease): void {
    this.#noteSeen(lease, Number.POSITIVE_INFINITY);
  }

  /** Uses the view of a reader for a request, as the corridor does for a page in memory. */
  use(lease: ViewLease): void {
    const now = this.#clock.now();
    if (!lease.isUsable(now, null)) {
      void lease.renew(BEHIND, null).then(() => this.noteNews(lease));
      return;
    }
    if ((lease.stamp()?.seq ?? 0) < this.#highestSettled) this.late++;
    this.noteNews(lease);
    if (lease.isDue(now)) void lease.renew(BEHIND, null);
  }

  /** A backend purges through one of the readers, and asks whether the purge has settled. */
  async purge(
    by: ReadYourWritesLog,
    readers: readonly { readonly lease: ViewLease }[],
    { clientMs, logMs }: Distance,
  ): Promise<void> {
    const clock = this.#clock;
    const sentAt = clock.now();
    await clock.wait(clientMs / 2).over;
    const outcome = await by.append(PURGE);
    if (outcome.kind === "conflict") return;
    const { seq, at, settlesInMs } = outcome;
    const usable = readers.filter(({ lease }) => lease.isUsable(clock.now(), null) && lease.stamp()!.seq < seq);
    const missing = new Set(usable.map(({ lease }) => lease));
    if (missing.size > 0) this.#unseen.set(seq, { numberedAt: at, missing });
    else this.seen.add(clock.now() - at);
    await clock.wait(clientMs / 2).over;
    const byClock = clock.wait(settlesInMs);
    const asked = async () => {
      await clock.wait(clientMs / 2).over;
      const hasSettled = await this.#log.settled(seq, logMs);
      await clock.wait(clientMs / 2).over;
      return hasSettled ? undefined : byClock.over;
    };
    await Promise.race([byClock.over, asked()]);
    this.settled.add(clock.now() - sentAt);
    this.#highestSettled = Math.max(this.#highestSettled, seq);
  }

  #noteSeen(lease: ViewLease, upTo: number): void {
    for (const [number, { numberedAt, missing }] of this.#unseen) {
      if (number <= upTo && missing.delete(lease) && missing.size === 0) {
        this.seen.add(this.#clock.now() - numberedAt);
        this.#unseen.delete(number);
      }
    }
  }
}

export const PURGE_COLUMNS = ["seen p50 ms", "p99", "settled p50 ms", "p99", "late"];

/** The cells of a row below these columns. */
export function purgeCells({ seen, settled, late }: PurgeFigures): string[] {
  const times = [seen, settled].flatMap((each) => [50, 99].map((part) => String(Math.round(each.percentile(part)))));
  return [...times, String(late)];
}

/** A sentence if a view without a purge was used after the purge had settled. */
export function lateFailures(rows: readonly PurgeFigures[]): string[] {
  return rows.some(({ late }) => late > 0) ? ["A view without a purge was used after it had settled."] : [];
}

const PURGE: NewPurge = {
  id: null,
  content: "",
  purgeKeys: ["#a"],
  accepted: { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false },
  repeatAfterMs: null,
  reason: null,
  by: "bench",
};
