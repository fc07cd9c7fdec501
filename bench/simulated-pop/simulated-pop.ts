import { seededRandom } from "../../demo/data/seeded-random.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PopNotes } from "../../worker/ports/store.ts";
import type { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import type { PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { DiscreteEventClock } from "./discrete-event-clock.ts";
import { DistantLog } from "./distant-log.ts";
import { BEHIND, randomGapMs, sharedNotes, simulatedLease } from "./simulated-lease.ts";

export interface PopSettings {
  readonly isolates: number;
  /** Requests to the whole PoP, at random instants, each to a random isolate. */
  readonly requestsPerSecond: number;
  readonly leaseMs: number;
  /** The oldest view that may decide, if the route allows an older one than the lease. Default: the lease. */
  readonly maxViewAgeMs?: number;
  /** For how long after a request a view is kept. Default: not at all. */
  readonly keepViewMs?: number;
  /** Whether isolates keep a connection to the log. Default: they do not. */
  readonly push?: boolean;
  /** `"alone"` if the isolates share nothing, `"at-once"` if they share through a Cache API without latency. */
  readonly sharing: "shared" | "alone" | "at-once";
}

export interface PopCounts {
  readonly requests: number;
  /** How long each request that had to wait for a newer view waited, in milliseconds. */
  readonly waitsMs: readonly number[];
}

/** The isolates of a PoP with their real leases, and random visitors. Counts the requests from `countFrom` on. */
export class SimulatedPop {
  readonly #clock: DiscreteEventClock;
  readonly #random: () => number;
  readonly #settings: PopSettings;
  readonly #leases: readonly ViewLease[];
  readonly #waitsMs: number[] = [];
  readonly #countFrom: number;
  #requests = 0;

  constructor(
    clock: DiscreteEventClock,
    random: () => number,
    log: PurgeLogClient,
    settings: PopSettings,
    countFrom: number,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.#settings = settings;
    this.#countFrom = countFrom;
    const { leaseMs, maxViewAgeMs = leaseMs, keepViewMs = 0, push = false } = settings;
    const timing = { leaseMs, longestViewAgeMs: maxViewAgeMs, keepViewMs, push };
    const notes = notesOf(settings.sharing, clock);
    this.#leases = Array.from(
      { length: settings.isolates },
      () => simulatedLease({ clock, random }, timing, notes, log).lease,
    );
    this.#arriveLater();
  }

  get counts(): PopCounts {
    return { requests: this.#requests, waitsMs: this.#waitsMs };
  }

  #arriveLater(): void {
    this.#clock.at(this.#clock.now() + randomGapMs(this.#random, this.#settings.requestsPerSecond), () => {
      void this.#request(this.#leases[Math.floor(this.#random() * this.#leases.length)]!);
      this.#arriveLater();
    });
  }

  /** Uses the view as the request flow does for a page in memory. */
  async #request(lease: ViewLease): Promise<void> {
    const arrivedAt = this.#clock.now();
    const counts = arrivedAt >= this.#countFrom;
    if (counts) this.#requests++;
    if (lease.isUsable(arrivedAt, null, this.#settings.maxViewAgeMs)) {
      if (lease.isDue(arrivedAt)) void lease.renew(BEHIND, null);
      return;
    }
    await lease.renew(BEHIND, null);
    if (counts) this.#waitsMs.push(this.#clock.now() - arrivedAt);
  }
}

/** A PoP's counts in a stretch of time that begins when all its isolates are running. */
export async function countPop(
  settings: PopSettings,
  { logMs, settlesAfterMs, seconds }: { logMs: number; settlesAfterMs: number; seconds: number },
): Promise<PopCounts & { readonly readsPerSecond: number }> {
  const clock = new DiscreteEventClock();
  const log = new DistantLog(clock, logMs);
  const pop = new SimulatedPop(clock, seededRandom(1).next, log, settings, settlesAfterMs);
  await clock.runUntil(settlesAfterMs);
  const before = log.reads;
  await clock.runUntil(settlesAfterMs + seconds * 1000);
  return { ...pop.counts, readsPerSecond: (log.reads - before) / seconds };
}

function notesOf(sharing: PopSettings["sharing"], clock: Clock): PopNotes {
  if (sharing === "alone") return { read: async () => null, write: async () => undefined };
  return sharedNotes(clock, sharing === "shared" ? 1 : 0);
}
