/** The purge log as the control plane writes to it. */
export interface PurgeLogWriter {
  /**
   * Rejects if the log cannot be reached. The purge may have been accepted all the same; its `id` makes it safe to send
   * again.
   */
  append(purge: NewPurge): Promise<AppendOutcome>;
}

/** A purge that has been checked and can be appended to the log. */
export interface NewPurge {
  /** The caller's id. A purge with the same id and content is accepted once. */
  readonly id: string | null;
  /** A fingerprint of the purge's content, which tells a replay from a conflict. */
  readonly content: string;
  readonly purgeKeys: readonly string[];
  readonly accepted: AcceptedItems;
  /** Default: hard. */
  readonly mode?: PurgeMode;
  /** The purge is repeated after this many milliseconds; `null` if it is not. */
  readonly repeatAfterMs: number | null;
  readonly reason: string | null;
  /** The name of the token that was used. */
  readonly by: string;
}

/**
 * The effect of a purge on responses (R10). `hard`: they are gone. `soft`: they are stale, but usable for a while.
 * `invalidate`: they are validated before use.
 */
export type PurgeMode = "hard" | "soft" | "invalidate";

/** How many items of each kind a purge names. */
export interface AcceptedItems {
  readonly urls: number;
  readonly tags: number;
  readonly prefixes: number;
  readonly hosts: number;
  readonly everything: boolean;
}

export type AppendOutcome =
  | {
      readonly kind: "appended";
      readonly seq: number;
      readonly logId: string;
      /** When the purge was accepted, by the log's clock: epoch milliseconds. */
      readonly at: number;
      /** After this many milliseconds, no view without this purge can be in use. */
      readonly settlesInMs: number;
      /** True if the same id had been accepted before. */
      readonly replayed: boolean;
      /** True if confirmations may settle the purge earlier (R25), so that it is worth asking. Default: false. */
      readonly maySettleSooner?: boolean;
    }
  | { readonly kind: "conflict" };

/** One row of the audit trail. */
export interface PurgeRecord {
  readonly seq: number;
  /** Epoch milliseconds of the log's clock. */
  readonly at: number;
  /** The name of the token that was used. */
  readonly by: string;
  readonly reason: string | null;
  readonly mode: PurgeMode;
  readonly accepted: AcceptedItems;
  /** Its first purge keys, as many as a row has room for. */
  readonly purgeKeys: readonly string[];
  /** How many purge keys it named in all. */
  readonly purgeKeyCount: number;
  readonly id: string | null;
  /** The purge that this one repeats. */
  readonly repeatOf: number | null;
  /** Whether the purge had settled, by the log's clock, when the row was read. */
  readonly settled: boolean;
  /** In how many milliseconds it settles, as far as was known then; 0 or less if it has. */
  readonly settlesInMs: number;
  /** The names of the machines that had not confirmed it, while it has not settled. Default: the log cannot tell. */
  readonly waitsFor?: readonly string[] | undefined;
}

/** A page of the audit trail, the newest first. */
export interface PurgeRecordPage {
  readonly purges: readonly PurgeRecord[];
  /** The `before` of the next page; `null` on the last page. */
  readonly next: number | null;
}

/** The audit trail, for the control plane. Both methods reject if the log cannot be reached. */
export interface PurgeAudit {
  /** The newest purges, or those below the number `before`: at most `limit`, and at most 500. */
  list(before: number | null, limit: number): Promise<PurgeRecordPage>;
  /**
   * `null` if the log never had this purge, or has deleted its row. `waitMs`: for how long to hold the answer until the
   * purge has settled, where the log can tell. Default: not at all.
   */
  find(seq: number, waitMs?: number): Promise<PurgeRecord | null>;
}
