import type { MachineStats } from "./machine-stats.ts";

/**
 * The body of `GET /_tidemark/stats?scope=isolate`: the counters of the isolate that answered, since it started.
 *
 * It is written by hand, because the package's types cannot contain a type that is inferred from a zod schema. A type
 * test compares it with the schema in `stats-schema.ts`.
 */
export interface IsolateStats {
  /** Raised when a field changes its meaning or goes away. */
  version: 1;
  scope: "isolate";
  /** RFC 3339, UTC, by the isolate's clock. */
  startedAt: string;
  /** Answers by their `X-Cache`. With `answeredByEdge`, these are all answers. */
  answers: CountsByName;
  /** Answers that the edge made itself, by the `detail` of their `Cache-Status`. */
  answeredByEdge: CountsByName;
  /**
   * Requests sent to the origin; `answered` and `failed` are parts of `asked`. With `origin.concurrency`, `awaited`
   * counts requests that had to wait for a turn, their own or that of a fetch in the same isolate which they joined, and
   * `turnedAway` those that got none.
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
    /** Copies that were dropped while or after their body was read, by the reason. */
    discarded: CountsByName;
  };
  /**
   * Requests to the origin for second looks (a part of `origin.asked`), and the fields that they found to change pages.
   */
  secondLooks: { asked: number; marked: number };
  /**
   * Answers that were sent as deltas from the visitor's version (`deltas` of a route), the bytes of their bodies, and
   * the bytes that this saved. All except `savedBytes` are parts of `bytes.fromCache`.
   */
  deltas: { sent: number; bytes: number; savedBytes: number };
  /** Requests that were answered by the fetch of another request (collapsed forwarding). */
  collapsed: number;
  /**
   * Requests that bypassed the cache: with `Authorization` or a session that may not get the stored answer, or because
   * of the owner's `bypass`.
   */
  askedPastTheCache: number;
  /** Calls of the control plane with a wrong token. */
  tokensRefused: number;
  /** Reads of the purge log; `shared` counts copies of another isolate's read that made a read unnecessary. */
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
   * Requests at the origin now, requests that wait for their turn, how many may wait now, and how long the first of these
   * has waited; 0 without a limit.
   */
  atOrigin: { running: number; waiting: number; maxWaiting: number; longestWaitMs: number };
  view: { keys: number; bytes: number; maxBytes: number; position: { logId: string; seq: number } | null };
}

/** The counts of a site's isolates, or of one PoP's. */
export interface SiteCounts
  extends Omit<IsolateStats, "version" | "scope" | "startedAt" | "memory" | "fills" | "atOrigin" | "view"> {
  /** All answers: `answers` and `answeredByEdge` together. */
  requests: number;
  /** Answers with `HIT`, `UPDATING`, `STALE` and `REVALIDATED`: their bodies were stored. */
  fromCache: number;
  /** All answers by their status: the first 50, and `(others)`. */
  statuses: CountsByName;
  /**
   * Bytes of bodies: sent from stored responses, and sent by the origin; in full even if one breaks off or its client
   * leaves. Bodies without an announced length count only if they were read for storing; `unmeasuredBodies` is the number
   * of the others.
   */
  bytes: { fromCache: number; fromOrigin: number; unmeasuredBodies: number };
  /** Times to the head, by where the answer came from. */
  times: TimesByTier;
  /** Keys of purges that the isolates have read from the log. */
  purgedKeysRead: number;
}

/**
 * The body of `GET /_tidemark/stats`: the reports of all the site's isolates for a time up to now. Each reports once a
 * minute, so the latest minute may be missing, unless `isCurrent`.
 */
export interface SiteStats extends SiteCounts {
  version: 1;
  scope: "site";
  /**
   * RFC 3339, UTC, by the log's clock. It begins with a whole minute, hour or day, so perhaps earlier than requested.
   */
  from: string;
  /** RFC 3339, UTC, by the log's clock. */
  to: string;
  /**
   * True if all isolates reported for this answer, so nothing is missing but what `silent` ones had counted: on one
   * machine, and in `tidemark dev` with one edge. Elsewhere it is absent.
   */
  isCurrent?: true | undefined;
  /** The requested PoP; `null` for all. */
  pop: string | null;
  /**
   * The isolates that have reported; those that stopped without a last report; those that are alive, and the bytes in
   * their memories. Reports cover `heardMs` of the isolates' time. At most the requests of `unheardMs` are missing: up
   * to a minute for each isolate that did not announce its end.
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
   * The parts of this time, in order: minutes for up to two hours, hours for up to five days, days for more. Parts
   * without counts are left out.
   */
  spanMs: number;
  spans: SpanStats[];
  /**
   * Times to the head of all answers with an `X-Cache`. Answers from memory count as 0 if they are not measured. Absent
   * for a single PoP.
   */
  waits?: TimeStats | undefined;
  /** What the isolates' memories held, and would hold with other sizes. Absent without reports. */
  memory?: MemoryStats | undefined;
  /** By the pattern of the route; `(none)` matches no route. The first 50, and `(others)`. Empty for a single PoP. */
  routes: Record<string, RouteStats>;
  /** The heaviest URLs, at most 64 of each kind. `null` for a single PoP, and without reports. */
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
  /** The machine whose worker answered, at this moment. Absent on Workers. */
  machine?: MachineStats | undefined;
}

/** What the isolates' memories held, and would hold with other sizes. */
export interface MemoryStats {
  /** Look-ups of stored pages, and pages that were stored, if the key has at most 512 characters. */
  uses: number;
  /** How many of them the memory held. */
  held: number;
  /** The size of one memory. */
  maxBytes: number;
  /**
   * The share of `uses` that memories of other sizes would hold, from a sample of up to 1024 pages an isolate. It
   * assumes least-recently-used eviction; the edge's own does better.
   */
  curve: { bytes: number; hitRatio: number }[];
}

/** The counts of a minute, an hour or a day. */
export interface SpanStats
  extends Pick<SiteCounts, "requests" | "fromCache" | "statuses" | "origin" | "bytes" | "times"> {
  /** Its beginning. */
  at: string;
}

/** The counts of a site's isolates for one route. */
export interface RouteStats {
  /** All answers. */
  requests: number;
  /** Answers whose bodies were stored. */
  fromCache: number;
  /** Answers by their `X-Cache`. */
  answers: CountsByName;
  /** Answers by their status. */
  statuses: CountsByName;
  /** Bytes of bodies: sent from stored responses, and sent by the origin. */
  bytes: { fromCache: number; fromOrigin: number };
  /** Times to the head, by where the answer came from. */
  times: TimesByTier;
  /** Answers that were not stored, by the reason. */
  refused: CountsByName;
  /** The effects that changes of the site's rules would have had. */
  compared: ComparedPages;
}

/**
 * Comparisons of fetched pages. Each isolate compares its own fetches, up to 256 KiB and 1 MiB a second, so the counts
 * are rather too low than too high.
 */
export interface ComparedPages {
  /**
   * By a change of the cache key: fetches that a fresh page would have answered with the changed key, and whether that
   * page was the same. Changes are `drop NAME`, `lowercase NAME`, `sort`, `drop *`, for parameters of the query, and
   * `vary NAME`, to stop a field from selecting variants. Names that suggest credentials are left out.
   */
  keys: Record<string, { fetches: number; same: number; different: number }>;
  /** Fetches of stored pages that would have been hits with a lifetime of this many seconds: 60, 600, 3600. */
  lifetimes: CountsByName;
  /** The same for pages that were not stored because they had no lifetime. */
  missingLifetimes: CountsByName;
  /** Pages that were fetched again after their lifetime, and the total time between the two fetches. */
  refetched: { same: number; different: number; elapsedMs: number };
  /**
   * Pages that are not stored because they are for one visitor: how often 20 visitors in a row got the same page, and
   * how often the next visitor got another. One answer of eight up to 64 KiB is compared.
   */
  visitors: { same: number; different: number };
}

/**
 * Times to the head in milliseconds, by the slowest place that a request waited for; absent if none was measured. In
 * memory one answer of 16 is measured, and none on Workers, where the clock stands still meanwhile.
 */
export interface TimesByTier {
  /** Answers from an isolate's memory. */
  memory?: TimeStats | undefined;
  /** Answers from the Cache API, or from a server's disk. */
  shared?: TimeStats | undefined;
  /** Answers that waited for the origin. */
  origin?: TimeStats | undefined;
  /** Answers of the edge itself in place of an origin that has failed or was busy. */
  failed?: TimeStats | undefined;
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
 * A URL (without its query if it is not stored), as printable ASCII of at most 200 characters. Its true weight is at
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
