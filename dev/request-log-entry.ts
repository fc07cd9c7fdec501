/** One request to an edge of the dev command, as its worker tells it. Nothing of it is secret: no field values. */
export interface RequestEntry {
  readonly kind: "request";
  readonly method: string;
  /** Path and query as they were asked. */
  readonly path: string;
  readonly status: number;
  /** `null` where the edge answered by itself; `detail` then says why. */
  readonly xCache: string | null;
  readonly detail: string | null;
  readonly ageS: number | null;
  /** How long a hit stays fresh; below 0 since when it no longer is. `null` where that is not told. */
  readonly ttlS: number | null;
  /** Whether the origin's answer went into the store. */
  readonly stored: boolean;
  /** Until the head of the answer, in milliseconds. */
  readonly ms: number;
  /** What of it was spent on the origin; `null` where it was not asked. */
  readonly originMs: number | null;
}

/** One purge that arrived at an edge of the dev command. */
export interface PurgeEntry {
  readonly kind: "purge";
  readonly method: string;
  readonly status: number;
  /** What was purged, in words; empty if the purge was refused. */
  readonly purged: readonly string[];
  /** `null` if the purge was refused. */
  readonly seq: number | null;
  readonly settlesInMs: number | null;
  readonly ms: number;
}

export type LogEntry = RequestEntry | PurgeEntry;

/** How a line of the worker begins that is one entry, as JSON. */
export const ENTRY_MARK = "tidemark-request-log ";

/** The variable `DEV` of the dev command's worker. */
export interface DevSettings {
  /** Round trips in milliseconds; 0 adds none. */
  readonly originMs: number;
  readonly logMs: number;
  readonly isLogged: boolean;
  /** True if the purge log runs in another runtime, which is found a little after the start. */
  readonly isLogElsewhere: boolean;
  /** The public address of a site that names none; `null` for the one that a request came to. */
  readonly publicUrl: string | null;
}
