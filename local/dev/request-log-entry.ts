import type { SimulatedRegion } from "../../wire/simulated-regions.ts";
import type { TrafficCounts } from "./traffic-report.ts";

/** One request to an edge of the dev command. It has no field values, so nothing in it is secret. */
export interface RequestEntry {
  readonly kind: "request";
  readonly method: string;
  /** Path and query of the request. */
  readonly path: string;
  readonly status: number;
  /** `null` if the edge made the answer itself; `detail` then says why. */
  readonly xCache: string | null;
  readonly detail: string | null;
  readonly ageS: number | null;
  /** For how long a hit stays fresh; negative once it is stale. `null` if the answer does not say. */
  readonly ttlS: number | null;
  /** Whether the origin's answer was stored. */
  readonly stored: boolean;
  /** Whether it has waited for the fetch of another request. */
  readonly collapsed: boolean;
  /** Milliseconds to the head of the answer. */
  readonly ms: number;
  /** The part of them spent on the origin; `null` if the origin was not asked. */
  readonly originMs: number | null;
}

/** One purge at an edge of the dev command. */
export interface PurgeEntry {
  readonly kind: "purge";
  readonly method: string;
  readonly status: number;
  /** The purged items: `/path`, `tag:a`, `prefix:/shop`, `host:m.example.com`, `everything`. Empty if it was refused. */
  readonly purged: readonly string[];
  /** Whether it purged nothing, as its sender wished. */
  readonly dryRun: boolean;
  /** `null` if the purge was refused, was a dry run, or came by another vendor's door. */
  readonly seq: number | null;
  readonly settlesInMs: number | null;
  readonly ms: number;
}

/** The end of a purge, if the site has `purge.push`. */
export interface SettledEntry {
  readonly kind: "settled";
  readonly seq: number;
  /** Milliseconds since the purge was sent. */
  readonly afterMs: number;
  /** `confirmations`: all isolates with a lease have confirmed it. `clock`: their leases have run out. */
  readonly by: "confirmations" | "clock";
}

export type LogEntry = RequestEntry | PurgeEntry | SettledEntry;

/** An edge's counts since its last report. */
export interface TrafficEntry extends TrafficCounts {
  readonly kind: "traffic";
}

/** The messages from the worker to the command. */
export type WorkerEntry = LogEntry | TrafficEntry;

/** The beginning of a worker's line that contains an entry; JSON follows it. */
export const ENTRY_PREFIX = "tidemark-request-log ";

/** The variable `DEV` of the dev command's worker. */
export interface DevSettings {
  /** Round trips in milliseconds; 0 adds none. */
  readonly originMs: number;
  readonly logMs: number;
  /** True if the purge log runs in another runtime, which this one finds a little after its start. */
  readonly isLogElsewhere: boolean;
  /** The public address of a site that names none; `null` for the address that each request came to. */
  readonly publicUrl: string | null;
  /** The code that logs in at the dashboard, once; `null` for none. */
  readonly loginCode: string | null;
  /** The region of this edge; `null` if it is the only edge. */
  readonly region: string | null;
  /** All regions of the command; none if it runs one edge without a region. */
  readonly regions: readonly SimulatedRegion[];
  /** Whether somebody reads the request log. Otherwise it is not written. */
  readonly logsRequests: boolean;
}

/** The worker's line that says that the code was used. */
export const LOGIN_CODE_USED = "tidemark-login-code-used";
