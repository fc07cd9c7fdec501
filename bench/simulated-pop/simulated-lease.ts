import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PopNotes } from "../../worker/ports/store.ts";
import type { LeaseTimingSettings } from "../../worker/purges/lease/lease-timing.ts";
import { PopSharing } from "../../worker/purges/lease/pop-sharing.ts";
import { ViewLease } from "../../worker/purges/lease/view-lease.ts";
import type { PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { PurgeView } from "../../worker/purges/view/purge-view.ts";

export const SKEW_MS = 250;
/** The latency of the simulated Cache API: of a read, and from a write until reads see it. */
export const NOTE_READ_MS = 3;
const NOTE_WRITE_MS = 8;
/** Small, because there are thousands of views, and a bench has one key. */
const VIEW_BYTES = 1024;

/** The random numbers and the clock of a simulation. */
export interface Simulation {
  readonly clock: Clock;
  readonly random: () => number;
}

export const BEHIND: BackgroundWork = { run: () => undefined };

/** The real lease of an isolate, with its view. */
export function simulatedLease(
  { clock, random }: Simulation,
  timing: Omit<LeaseTimingSettings, "skewMs">,
  notes: PopNotes,
  log: PurgeLogClient,
): { readonly lease: ViewLease; readonly view: PurgeView } {
  const settings = { ...timing, skewMs: SKEW_MS };
  const reporter = { report: () => undefined };
  const pop = new PopSharing(notes, settings, clock, reporter);
  const view = new PurgeView(VIEW_BYTES);
  return { lease: new ViewLease({ settings, view, log, pop, clock, random, reporter }), view };
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

/** The random time to the next request, in milliseconds. */
export function randomGapMs(random: () => number, perSecond: number): number {
  return (-Math.log(1 - random()) * 1000) / perSecond;
}
