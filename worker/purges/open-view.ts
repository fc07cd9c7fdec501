import type { Reports } from "../metrics/reports.ts";
import type { Clock } from "../ports/clock.ts";
import type { PurgeLogWriter } from "../ports/purge-log.ts";
import type { Invalidations } from "../ports/purge-state.ts";
import type { Reporter } from "../ports/reporter.ts";
import type { PopNotes } from "../ports/store.ts";
import type { Stamp } from "../rules/storing/stored-response.ts";
import { LogInvalidations } from "./invalidations.ts";
import type { LeaseTimingSettings } from "./lease/lease-timing.ts";
import { PopSharing } from "./lease/pop-sharing.ts";
import { ReadYourWritesLog } from "./lease/read-your-writes-log.ts";
import { ViewLease } from "./lease/view-lease.ts";
import type { PurgeLogClient } from "./log/log-contract.ts";
import { PurgeView } from "./view/purge-view.ts";

/** The largest table of a view, with room for 1.3 million keys. */
const MAX_VIEW_BYTES = 8 * 1024 * 1024;

/** Makes what tells the log of invalidations. */
export type InvalidationsOf = (log: PurgeLogWriter, reporter: Reporter) => Invalidations;

/** What the purge state of an isolate needs of its platform. */
interface ViewPlatform {
  readonly clock: Clock;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
  readonly notes: PopNotes;
  readonly log: PurgeLogClient;
  readonly reporter: Reporter;
  readonly invalidationsOf?: InvalidationsOf;
}

/** The purge state of one isolate: its view of the log, the lease on it, and the ways to the log. */
export interface OpenView {
  readonly view: PurgeView;
  readonly purges: ViewLease;
  /** The log for whoever purges through this isolate, which then sees what it has purged. */
  readonly log: ReadYourWritesLog;
  readonly invalidations: Invalidations;
  /** The room that the view takes, for the stats. */
  held(): { keys: number; bytes: number; maxBytes: number; position: Stamp | null };
}

/** Opens the view of an isolate. A report that is due goes with a read of the log. */
export function openView(
  { purge: settings }: { readonly purge: LeaseTimingSettings & { readonly skewMs: number } },
  { clock, random, notes, log, reporter, invalidationsOf }: ViewPlatform,
  reports: Reports | undefined,
): OpenView {
  const view = new PurgeView(MAX_VIEW_BYTES);
  const pop = new PopSharing(notes, settings, clock, reporter);
  const purges = new ViewLease({ settings, view, log: reportingLog(log, reports), pop, clock, random, reporter });
  const ownLog = new ReadYourWritesLog(log, purges);
  return {
    view,
    purges,
    log: ownLog,
    invalidations:
      invalidationsOf?.(ownLog, reporter) ?? new LogInvalidations(ownLog, clock, settings.leaseMs, reporter),
    held: () => ({
      keys: view.heldKeys,
      bytes: view.heldBytes,
      maxBytes: MAX_VIEW_BYTES,
      position: view.position,
    }),
  };
}

function reportingLog(log: PurgeLogClient, reports: Reports | undefined): PurgeLogClient {
  if (!reports) return log;
  const connect = log.connect?.bind(log);
  return {
    append: (purge) => log.append(purge),
    read: (since, leaseMs, longestViewAgeMs, _, reader) =>
      reports.sendBy((report) => log.read(since, leaseMs, longestViewAgeMs, report, reader)),
    ...(connect && { connect }),
  };
}
