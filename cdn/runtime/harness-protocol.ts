/** What the world around one simulated isolate is like. The harness sets it whole; nothing in it moves by itself. */
export interface Conditions {
  /** The isolate's time: epoch milliseconds. */
  readonly now: number;
  /** Round trips in real milliseconds; 0 adds none. */
  readonly clientMs: number;
  readonly originMs: number;
  readonly logMs: number;
  /** False if no call to the purge log gets through. */
  readonly isLogReachable: boolean;
  /**
   * What an origin on real time is to take the present for, in epoch milliseconds: its `Date` and `Expires` are moved
   * by as much. `null` for an origin that is on the CDN's time.
   */
  readonly originNow: number | null;
}

/** The public address of a site that names none. */
export const DEFAULT_PUBLIC_URL = "http://www.example.test";

/** What is lost next: so many answers on their way back, after what was asked has been done. */
export interface Losses {
  readonly origin: number;
  readonly log: number;
}

/** A page's key and all that the isolate knows to be stored. */
export interface KnownKeys {
  /** `null` for a URL that is not looked up, or refused. */
  readonly key: string | null;
  /** Keys of entries that this isolate has stored or found, the newest last. */
  readonly stored: readonly string[];
}

/** What the harness needs to know of the site that a worker was made for. */
export interface SimulatedSite {
  /** Where visitors find it: scheme and host. */
  readonly publicUrl: string;
}

/** One order of the harness to a simulated isolate. */
export type Order =
  | { readonly do: "set-conditions"; readonly conditions: Conditions }
  /** The purge log carries out the purges that are due to be repeated. */
  | { readonly do: "run-due-purges" }
  | { readonly do: "lose"; readonly losses: Losses }
  /** The isolate forgets all that it had in memory, as if it had been killed and a new one were there. */
  | { readonly do: "kill" }
  /** Answers once nothing is being written to the PoP's cache. */
  | { readonly do: "finish-writes" }
  /** Answers once nothing goes on behind the isolate's answers. */
  | { readonly do: "finish-work" }
  | { readonly do: "tell-site" }
  | { readonly do: "tell-keys"; readonly url: string; readonly fields: Readonly<Record<string, string>> }
  /** Answers whether a call to the purge log gets through, whatever the conditions are. */
  | { readonly do: "call-log" };
