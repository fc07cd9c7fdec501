import type { BackgroundWork, Clock, PopNotes } from "../worker/ports.ts";
import { PopView } from "../worker/purges/lease/pop-view.ts";
import { ViewLease } from "../worker/purges/lease/view-lease.ts";
import type { PurgeLogClient } from "../worker/purges/log/log-contract.ts";
import { View } from "../worker/purges/view/view.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** How the Cache API of a PoP behaves here: how long a look takes, and how long it is until what is written is seen. */
export const LOOK_MS = 3;
const LANDS_AFTER_MS = 8;

export const SKEW_MS = 250;
const VIEW_BYTES = 64 * 1024;

export interface PopSettings {
  readonly isolates: number;
  /** Of the whole PoP, at random moments, each to any of its isolates. */
  readonly requestsPerSecond: number;
  readonly leaseMs: number;
  /** The oldest view that may decide, if the route allows more than the lease. Default: the lease. */
  readonly withinMs?: number;
  /** `"alone"` for isolates that know nothing of each other, `"at-once"` for a Cache API that takes no time. */
  readonly sharing: "shared" | "alone" | "at-once";
}

export interface PopCounts {
  readonly requests: number;
  /** Requests that had to wait for a newer view, and for how long in milliseconds. */
  readonly waitsMs: readonly number[];
}

/** The isolates of a PoP with their real leases, a log somewhere, and visitors at random. Counts from `countFrom` on. */
export class SimulatedPop {
  readonly #time: VirtualTime;
  readonly #random: () => number;
  readonly #settings: PopSettings;
  readonly #leases: readonly ViewLease[];
  readonly #waitsMs: number[] = [];
  readonly #countFrom: number;
  #requests = 0;

  constructor(time: VirtualTime, random: () => number, log: PurgeLogClient, settings: PopSettings, countFrom: number) {
    this.#time = time;
    this.#random = random;
    this.#settings = settings;
    this.#countFrom = countFrom;
    const { leaseMs, withinMs = leaseMs } = settings;
    const purge = { leaseMs, skewMs: SKEW_MS, longestWithinMs: withinMs };
    const reporter = { report: () => undefined };
    const notes = notesOf(settings.sharing, time);
    this.#leases = Array.from({ length: settings.isolates }, () => {
      const pop = new PopView(notes, purge, time, reporter);
      return new ViewLease(new View(VIEW_BYTES), log, pop, purge, time, random, reporter);
    });
    this.#arriveLater();
  }

  get counts(): PopCounts {
    return { requests: this.#requests, waitsMs: this.#waitsMs };
  }

  #arriveLater(): void {
    const gapMs = (-Math.log(1 - this.#random()) * 1000) / this.#settings.requestsPerSecond;
    this.#time.at(this.#time.now() + gapMs, () => {
      void this.#request(this.#leases[Math.floor(this.#random() * this.#leases.length)]!);
      this.#arriveLater();
    });
  }

  /** What the corridor does with its view for a page that lies in memory. */
  async #request(lease: ViewLease): Promise<void> {
    const arrivedAt = this.#time.now();
    const counts = arrivedAt >= this.#countFrom;
    if (counts) this.#requests++;
    if (lease.isUsable(arrivedAt, null, this.#settings.withinMs)) {
      if (lease.isDue(arrivedAt)) void lease.renew(BEHIND, null);
      return;
    }
    await lease.renew(BEHIND, null);
    if (counts) this.#waitsMs.push(this.#time.now() - arrivedAt);
  }
}

const BEHIND: BackgroundWork = { run: () => undefined };

function notesOf(sharing: PopSettings["sharing"], clock: Clock): PopNotes {
  if (sharing === "alone") return { read: async () => null, write: async () => undefined };
  const notes = new Map<string, Uint8Array>();
  const takes = sharing === "shared" ? 1 : 0;
  return {
    read: async (name) => {
      await clock.wait(takes * LOOK_MS).over;
      return notes.get(name) ?? null;
    },
    write: async (name, bytes) => {
      await clock.wait(takes * LANDS_AFTER_MS).over;
      notes.set(name, bytes);
    },
  };
}
