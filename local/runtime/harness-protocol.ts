/**
 * The path at which a simulated worker takes commands: `POST` a `HarnessCommand`, or `GET` with `?now=<epoch
 * milliseconds>`, which only sets the clock. A deployed worker does not have this path.
 */
export const HARNESS_PATH = "/_virtual-time";

/** The clock of one simulated isolate and the network around it. Only the harness changes them. */
export interface ClockAndNetwork {
  /** The isolate's time: epoch milliseconds. */
  readonly now: number;
  /** Round trips in real milliseconds; 0 adds none. */
  readonly clientMs: number;
  readonly originMs: number;
  readonly logMs: number;
  /** False if every call to the purge log fails. */
  readonly isLogReachable: boolean;
  /**
   * The CDN's time, in epoch milliseconds, for an origin that runs on real time: its `Date` and `Expires` are shifted
   * from the real time to this one. `null` for an origin that runs on the CDN's time.
   */
  readonly originNow: number | null;
}

/** The public address of a site that names none. */
export const DEFAULT_PUBLIC_URL = "http://www.example.test";

/** How many of the next answers are lost on their way back, after the origin or the log has handled the request. */
export interface AnswersToLose {
  readonly origin: number;
  readonly log: number;
}

/** The cache key of a URL, and the keys that the isolate knows to be stored. */
export interface KnownKeys {
  /** `null` for a URL that is refused or not looked up. */
  readonly key: string | null;
  /** Keys of entries that this isolate has stored or found, the newest last. */
  readonly stored: readonly string[];
}

/** The connections of one isolate to the purge log, since it started. */
export interface LogConnections {
  /** How many are open: one while its view is kept, two while a request hands it over to a later one. */
  readonly open: number;
  /** How many have been opened. */
  readonly opened: number;
  /** How many of those were lost: a call over them failed. */
  readonly lost: number;
  /** How many pushes have reached it. */
  readonly pushes: number;
}

/** The part of a worker's site that the harness needs. */
export interface SimulatedSite {
  /** Where visitors find it: scheme and host. */
  readonly publicUrl: string;
  /** Whether its isolates keep connections to the purge log, over which it pushes purges. */
  readonly isPushedTo: boolean;
  readonly routes: readonly { readonly match: string; readonly pass: boolean }[];
}

/** A command of the harness to a simulated isolate. */
export type HarnessCommand =
  | { readonly do: "set-clock-and-network"; readonly clockAndNetwork: ClockAndNetwork }
  /** The purge log carries out the repeated purges that are due. */
  | { readonly do: "run-due-purges" }
  /** The new purge log counts as created long ago, so that nobody can have read an earlier log. */
  | { readonly do: "begin-log" }
  /** Answers once all pushes under way have been answered. */
  | { readonly do: "finish-pushes" }
  /** Answers whether a purge has settled. */
  | { readonly do: "look-at-purge"; readonly seq: number }
  /** The connections to the purge log end, and it is told nothing. */
  | { readonly do: "lose-connections" }
  | { readonly do: "count-connections" }
  | { readonly do: "lose-answers"; readonly answersToLose: AnswersToLose }
  /** The isolate forgets all that it had in memory, as if it had been evicted and a new one started. */
  | { readonly do: "kill" }
  /** Answers once nothing that has arrived whole is being written to the PoP's cache. */
  | { readonly do: "finish-writes" }
  /** Answers once all work after the isolate's responses has ended. */
  | { readonly do: "finish-work" }
  | { readonly do: "describe-site" }
  /** Answers which of these paths the pattern of a route matches, or `null` if it is no pattern. */
  | { readonly do: "match-paths"; readonly pattern: string; readonly paths: readonly string[] }
  | { readonly do: "list-keys"; readonly url: string; readonly fields: Readonly<Record<string, string>> }
  /** Answers whether a call to the purge log succeeds, ignoring the simulated network's faults. */
  | { readonly do: "ping-log" };

/** The status of the answer to a command if the worker cannot be created; its body says why. */
export const WORKER_FAILED = 422;

/** A site as a variable of a worker, which is JSON. A `RegExp` becomes `{ RegExp: [source, flags] }`. */
export function siteAsJson(site: object): unknown {
  const asData = (_: string, value: unknown) =>
    value instanceof RegExp ? { RegExp: [value.source, value.flags] } : value;
  return JSON.parse(JSON.stringify(site, asData));
}

/** The site that `siteAsJson` was given. */
export function siteFromJson(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (_, value) =>
    Array.isArray(value?.RegExp) ? new RegExp(value.RegExp[0], value.RegExp[1]) : value,
  );
}
