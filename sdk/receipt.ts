/** What one refetch of a `refresh` came to. */
export interface Refreshed {
  url: string;
  /** The status of the answer; 502 or 504 where the origin gave none. */
  status: number;
  /** The answer's `X-Cache`; absent where the edge had to answer itself. */
  xCache?: string | undefined;
  /** What went wrong, if anything did. The purge stands all the same. */
  error?: string | undefined;
}

/** One item of a dry run. */
export interface Planned {
  /** As it was named. */
  item: string;
  /** What would be purged, in the normal form that the edge's keys have. */
  key: string;
  /** The route of a URL, as the site writes it; `null` for one that no route matches, absent for what is no URL. */
  route?: string | null | undefined;
}

/** How many items of each kind were accepted. */
export interface Accepted {
  urls: number;
  tags: number;
  prefixes: number;
  hosts: number;
  everything: boolean;
}

/** What the edge says about a purge that it accepted. From then on the purge is recorded and cannot be lost. */
export interface ReceiptBody {
  /** The purge's number, from 1 on. Numbers only rise within one log. 0 for a dry run, which takes none. */
  seq: number;
  /** The log that gave the number; a number means nothing in another log. Empty for a dry run. */
  logId: string;
  /**
   * Sent as the request field `Tidemark-After`, it gets an answer at least as far along as this purge, from any PoP. Empty
   * for a dry run.
   */
  token: string;
  /** When the purge was accepted: RFC 3339, UTC, by the log's clock. */
  at: string;
  /** Milliseconds from the arrival of this receipt until no PoP serves what was purged. */
  settlesInMs: number;
  accepted: Accepted;
  /** True when this `id` had been accepted before: nothing new happened, and this is the first receipt. */
  replayed: boolean;
  /** True when nothing was purged, because the call only asked what would be. */
  dryRun: boolean;
  /** What the edge thinks worth knowing, in sentences. */
  warnings?: string[] | undefined;
  /** For a dry run: one entry for each item but `everything`. */
  planned?: Planned[] | undefined;
  /** One entry for each URL, if the purge asked for `refresh`. */
  refreshed?: Refreshed[] | undefined;
}

export interface SettledOptions {
  /** Stops waiting: the promise rejects with the signal's reason. The purge stands. Default: none. */
  signal?: AbortSignal | undefined;
}

export interface Receipt extends ReceiptBody {
  /**
   * Resolves once no PoP serves what was purged: `settlesInMs` after the receipt arrived, measured on this machine's
   * monotonic clock, however late it is called. It sends nothing.
   */
  settled(options?: SettledOptions): Promise<void>;
}
