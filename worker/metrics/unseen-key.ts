/** A purge key that no report to the ledger has named, as `SqlSeenKeys.unseen` gives it. */
export interface UnseenKey {
  /** Its place among the keys that were looked up. */
  readonly at: number;
  /** The key that was seen and is most like it; absent if none is. */
  readonly nearest?: string | undefined;
  /** Whether the ledger has listened for long enough to miss it. */
  readonly isSure: boolean;
}
