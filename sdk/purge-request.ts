/** How a purge is to be carried out and recorded; part of a request or given beside it. */
export interface PurgeDetails {
  /**
   * `"hard"`: what is named is gone. `"soft"`: it is stale; it may still answer while it is fetched anew, as long as its
   * own `stale-while-revalidate` or the site's `purge.softForMs` says, and is else confirmed by the origin first.
   * Default: `"hard"`.
   */
  mode?: "hard" | "soft" | undefined;
  /**
   * Only ask what would be purged: the receipt has `planned` and perhaps `warnings`, the number 0 and no token, and nothing
   * has changed. Default: false.
   */
  dryRun?: boolean | undefined;
  /**
   * Names this purge, so that it happens once however often it is sent: 1 to 128 printable ASCII characters
   * without spaces. The edge remembers it for at least a day; the same id for another purge is a `PurgeConflict`.
   * Default: a fresh UUID for each call, kept through its retries.
   */
  id?: string | undefined;
  /** Why, for the edge's audit trail; at most 500 characters. Default: none. */
  reason?: string | undefined;
  /**
   * Purge the same once more after so many milliseconds, at most a day: for a backend whose replicas lag, so that what
   * was fetched from one of them meanwhile goes, too. The receipt is that of the first purge. Default: not repeated.
   */
  repeatAfterMs?: number | undefined;
  /**
   * Fetch the purged URLs again at once, in the PoP that takes the call, at most 50 of them. It needs `urls`, and
   * the answer comes only when they are fetched: give slow pages a longer `deadlineMs`. Default: false.
   */
  refresh?: boolean | undefined;
}

/** What to purge: at least one kind, and `everything` alone. All of it happens or none. At most 10,000 items. */
export interface PurgeRequest extends PurgeDetails {
  /** Paths that start with `/` (that path on every host of the site) or whole `http(s)` URLs (both schemes). */
  urls?: readonly string[] | undefined;
  /** Tags as responses carry them: printable ASCII without spaces and commas, at most 256 bytes each. */
  tags?: readonly string[] | undefined;
  /**
   * Whole segments of paths, and all that lies below: `/shop` on every host, `www.example.com/shop` on one. Queries do
   * not count.
   */
  prefixes?: readonly string[] | undefined;
  /** Hosts of the site, like `www.example.com`: all of their pages. */
  hosts?: readonly string[] | undefined;
  /** The whole site. */
  everything?: true | undefined;
}

/** Options of one call. What a request says too, these override. */
export interface PurgeOptions extends PurgeDetails {
  /** Gives up: the call rejects with the signal's reason. Whether the purge happened is then unknown. Default: none. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the call with all its attempts and pauses. Default: the purger's `deadlineMs`. */
  deadlineMs?: number | undefined;
}
