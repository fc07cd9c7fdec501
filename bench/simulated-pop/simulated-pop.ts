import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PopNotes } from "../../worker/ports/store.ts";
import { PopSharing } from "../../worker/purges/lease/pop-sharing.ts";
import { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import type { PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";
import type { DiscreteEventClock } from "./discrete-event-clock.ts";

/** The latency of the simulated Cache API: of a read, and from a write until reads see it. */
export const NOTE_READ_MS = 3;
const NOTE_WRITE_MS = 8;

export const SKEW_MS = 250;
const VIEW_BYTES = 64 * 1024;

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
    const purge = { leaseMs, skewMs: SKEW_MS, longestViewAgeMs: maxViewAgeMs, keepViewMs, push };
    const reporter = { report: () => undefined };
    const notes = notesOf(settings.sharing, clock);
    this.#leases = Array.from({ length: settings.isolates }, () => {
      const pop = new PopSharing(notes, purge, clock, reporter);
      return new ViewLease({ settings: purge, view: new PurgeView(VIEW_BYTES), log, pop, clock, random, reporter });
    });
    this.#arriveLater();
  }

  get counts(): PopCounts {
    return { requests: this.#requests, waitsMs: this.#waitsMs };
  }

  #arriveLater(): void {
    const gapMs = (-Math.log(1 - this.#random()) * 1000) / this.#settings.requestsPerSecond;
    this.#clock.at(this.#clock.now() + gapMs, () => {
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

const BEHIND: BackgroundWork = { run: () => undefined };

function notesOf(sharing: PopSettings["sharing"], clock: Clock): PopNotes {
  if (sharing === "alone") return { read: async () => null, write: async () => undefined };
  return sharedNotes(clock, sharing === "shared" ? 1 : 0);
}

/** The notes of a PoP in a Cache API that takes this many times the usual latency. Default: once. */
export function sharedNotes(clock: Clock, times = 1): PopNotes {
  const notes = new Map<string, Uint8Array>();
  return {
    read: async (name) => {
      await clock.wait(times * NOTE_READ_MS).over;
      return notes.get(name) ?? null;
    },
    write: async (name, bytes) => {
      await clock.wait(times * NOTE_WRITE_MS).over;
      notes.set(name, bytes);
    },
  };
}
