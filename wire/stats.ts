import type { MachineStats } from "./machine-stats.ts";

/**
 * The body of `GET /_tidemark/stats?scope=isolate`: the counters of the isolate that answered, since it started.
 *
 * It is written out, because the package's types cannot contain a type that is inferred from a zod schema. A type test
 * compares it with the schema in `stats-schema.ts`.
 */
export interface IsolateStats {
  /** Raised when a field changes its meaning or goes away. */
  version: 1;
  scope: "isolate";
  /** RFC 3339, UTC, by the isolate's clock. */
  startedAt: string;
  /** Answers by their `X-Cache`. Together with `answeredByEdge` they are all answers. */
  answers: CountsByName;
  /** Answers that the edge made itself, by the `detail` of their `Cache-Status`. */
  answeredByEdge: CountsByName;
  /**
   * Requests sent to the origin; `answered` and `failed` are parts of `asked`. Where `origin.concurrency` bounds them,
   * `awaited` counts those that had to wait for their turn, and `turnedAway` those that did not get one.
   */
  origin: { asked: number; answered: number; failed: number; awaited: number; turnedAway: number };
  /** The same two by client: `editor`, `known` (was there before) or `other`. */
  queue: { awaited: CountsByName; turnedAway: CountsByName };
  store: {
    stored: number;
    storedBytes: number;
    failed: number;
    /** Answers that may not be stored, by the `detail` of their `Cache-Status`. */
    refused: CountsByName;
    /** The answers among them with `unkeyed-field`, by the name of the field: the first 50 names, and `(others)`. */
    unkeyedFields: CountsByName;
    /** Copies that were dropped while their body was read or after it, by the reason. */
    discarded: CountsByName;
  };
  /**
   * Requests to the origin for second looks, a part of `origin.asked`, and the fields that they found to choose pages.
   */
  secondLooks: { asked: number; marked: number };
  /**
   * Answers that went out as what had changed since the version that the visitor held (`deltas` of a route), the bytes of their
   * bodies, and the bytes that they would have had beyond that. All are parts of `bytes.fromCache`, but for `savedBytes`.
   */
  deltas: { sent: number; bytes: number; savedBytes: number };
  /** Requests that were answered by the fetch of another request (collapsed forwarding). */
  collapsed: number;
  /**
   * Requests sent past the cache: with `Authorization` or a session, where no stored answer is open to them, or by the
   * names that the owner gives in `bypass`.
   */
  askedPastTheCache: number;
  /** Calls of the control plane with a wrong token. */
  tokensRefused: number;
  /** Reads of the purge log; `shared` counts the copies of another isolate's reading that made a read unnecessary. */
  log: { reads: number; failedReads: number; shared: number };
  /** Purges accepted by this isolate. */
  purges: number;
  /** Invalidations by unsafe requests that could not be written to the log. */
  invalidationsDropped: number;
  /** Bugs: requests on which the edge itself failed, so that they were sent to the origin past the cache. */
  failures: number;
  memory: { entries: number; bytes: number; maxBytes: number };
  fills: { bytes: number; maxBytes: number };
  /**
   * Requests that are at the origin now, those that wait for their turn, and how long the first of these has waited; 0 where
   * nothing bounds them.
   */
  atOrigin: { running: number; waiting: number; longestWaitMs: number };
  view: { keys: number; bytes: number; maxBytes: number; position: { logId: string; seq: number } | null };
}

/** What the isolates of a site, or of one PoP, have counted. */
export interface SiteCounts
  extends Omit<IsolateStats, "version" | "scope" | "startedAt" | "memory" | "fills" | "atOrigin" | "view"> {
  /** All answers: `answers` and `answeredByEdge` together. */
  requests: number;
  /** Answers with `HIT`, `UPDATING`, `STALE` and `REVALIDATED`: their bodies were stored. */
  fromCache: number;
  /** All answers by their status: the first 50, and `(others)`. */
  statuses: CountsByName;
  /**
   * Bytes of bodies: sent out of stored responses, and sent by the origin. Of bodies whose length the origin did not
   * announce, those count that were read to be stored; `unmeasuredBodies` is the number of the others.
   */
  bytes: { fromCache: number; fromOrigin: number; unmeasuredBodies: number };
  /** Times to the head, by where the answer came from. */
  times: TimesByTier;
  /** Keys of purges that the isolates have read from the log. */
  purgedKeysRead: number;
}

/**
 * The body of `GET /_tidemark/stats`: what all isolates of the site have reported of a time up to now. Each reports once a
 * minute, so the newest minute may be missing, unless `isCurrent`.
 */
export interface SiteStats extends SiteCounts {
  version: 1;
  scope: "site";
  /** RFC 3339, UTC, by the log's clock. It begins with a whole minute, hour or day, and so perhaps earlier than asked. */
  from: string;
  /** RFC 3339, UTC, by the log's clock. */
  to: string;
  /**
   * All isolates have reported for this answer, so that nothing is missing, as on one machine, and in `tidemark dev` with
   * one edge. Elsewhere it is absent.
   */
  isCurrent?: true | undefined;
  /** The one PoP that was asked for; `null` for all. */
  pop: string | null;
  /**
   * The isolates that have reported; those of them that have fallen silent without a last report; those that are alive,
   * and the bytes in their memories. Reports cover `heardMs` of the isolates' time. At most the requests of `unheardMs`
   * are missing: up to a minute of each isolate that has not said that it ends.
   */
  isolates: {
    reported: number;
    silent: number;
    alive: number;
    memoryBytes: number;
    memoryMaxBytes: number;
    heardMs: number;
    unheardMs: number;
    heardShare: number;
  };
  /**
   * The parts of this time, in order: minutes of up to two hours, hours of up to five days, days of more. Those in which
   * nothing was counted are left out.
   */
  spanMs: number;
  spans: SpanStats[];
  /**
   * Times to the head of all answers with an `X-Cache`. Answers from memory count as 0 if they are not measured. Absent
   * for a single PoP.
   */
  waits?: TimeStats | undefined;
  /** What the memories of the isolates held, and would hold if they were of other sizes. Absent where nothing was reported. */
  memory?: MemoryStats | undefined;
  /** By the pattern of the route; `(none)` matches no route. The first 50, and `(others)`. Empty for a single PoP. */
  routes: Record<string, RouteStats>;
  /** The heaviest URLs, at most 64 of each kind. `null` for a single PoP, and where nothing was reported. */
  top: {
    /** By requests that found nothing usable. */
    missed: TopUrlStats[];
    /** By bytes that the origin sent. */
    bytes: TopUrlStats[];
    /** By milliseconds that requests waited for the origin. */
    slowest: TopUrlStats[];
    /** By answers that were not stored, for each reason. */
    notStored: TopUrlStats[];
  } | null;
  /** By PoP: the first 100, and `(others)`. */
  pops: Record<string, SiteCounts>;
  /** The machine whose worker has answered, at this moment. Absent on Workers. */
  machine?: MachineStats | undefined;
}

/** What the memories of the isolates held, and would hold if they were of other sizes. */
export interface MemoryStats {
  /** Look-ups of stored pages, and pages that were stored. */
  uses: number;
  /** How many of them the memory held. */
  held: number;
  /** The size of one memory. */
  maxBytes: number;
  /**
   * The share of `uses` that memories of other sizes would hold, from a sample of up to 1024 pages an isolate, for one that evicts
   * what was not used for longest; the edge's own eviction does better.
   */
  curve: { bytes: number; hitRatio: number }[];
}

/** What was counted in a minute, an hour or a day. */
export interface SpanStats
  extends Pick<SiteCounts, "requests" | "fromCache" | "statuses" | "origin" | "bytes" | "times"> {
  /** Its beginning. */
  at: string;
}

/** What the isolates of a site have counted on one route. */
export interface RouteStats {
  /** All answers. */
  requests: number;
  /** Answers whose bodies were stored. */
  fromCache: number;
  /** Answers by their `X-Cache`. */
  answers: CountsByName;
  /** Answers by their status. */
  statuses: CountsByName;
  /** Bytes of bodies: sent out of stored responses, and sent by the origin. */
  bytes: { fromCache: number; fromOrigin: number };
  /** Times to the head, by where the answer came from. */
  times: TimesByTier;
  /** Answers that were not stored, by the reason. */
  refused: CountsByName;
  /** What changes of the site's rules would have done. */
  compared: ComparedPages;
}

/**
 * What pages that were fetched have in common. Each isolate compares those that it has fetched itself, up to 256 KiB and
 * 1 MiB a second, so that all counts are too low rather than too high.
 */
export interface ComparedPages {
  /**
   * By a change of the cache key: fetches that a fresh page would have answered if the key had been changed so, and
   * whether that page was the same. Changes are `drop NAME`, `lowercase NAME`, `sort`, `drop *`, for parameters of the
   * query, and `vary NAME`, for a field that selects variants and would not. Names that speak of credentials are left out.
   */
  keys: Record<string, { fetches: number; same: number; different: number }>;
  /** Fetches of stored pages that would have been hits if they were fresh for so many seconds: 60, 600, 3600. */
  lifetimes: CountsByName;
  /** The same of pages that were not stored, because they had no lifetime. */
  missingLifetimes: CountsByName;
  /** Pages that were fetched again after their lifetime, and the time between the two fetches together. */
  refetched: { same: number; different: number; elapsedMs: number };
  /**
   * Pages that are not stored because they are for one visitor: how often 20 visitors in succession got the same, and how
   * often the next one got another. One answer of eight up to 64 KiB is compared.
   */
  visitors: { same: number; different: number };
}

/**
 * Times to the head in milliseconds, by the slowest place that a request waited for; absent where none was measured. In
 * memory one answer of 16 is measured, and none on Workers, where the clock stands still meanwhile.
 */
export interface TimesByTier {
  /** Answers out of an isolate's memory. */
  memory?: TimeStats | undefined;
  /** Answers out of the Cache API, or the disk of a server. */
  shared?: TimeStats | undefined;
  /** Answers that waited for the origin. */
  origin?: TimeStats | undefined;
}

/** Times in milliseconds. Quantiles are within 2 % of the true ones. */
export interface TimeStats {
  /** How many were measured. */
  count: number;
  meanMs: number;
  /** The median. */
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

/**
 * A URL, without its query where it is not stored, as printable ASCII of at most 200 characters. Its true weight is at
 * least `weight - error` and at most `weight`.
 */
export interface TopUrlStats {
  url: string;
  /** In the unit of its list: bytes, milliseconds or answers. */
  weight: number;
  /** By how much the weight may be too high. */
  error: number;
  /** How often it was counted; some may be missing if `error` is not 0. */
  times: number;
  /** Why it was not stored, in that list. */
  because?: string | undefined;
}

/** How often each name was counted. */
export type CountsByName = Record<string, number>;
