import type { PurgeRecord, PurgeRecordPage } from "../../ports/purge-log.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import type { AppendRequest, AppendResult, ReaderPosition, ViewDelta } from "./log-contract.ts";

/** SQLite answers within the call (R14), and PostgreSQL over the network. */
export type Answer<T> = T | Promise<T>;

/**
 * What every storage of the purge log does: SQLite (`SqlPurgeLog`, in a Durable Object or in a server's file) and PostgreSQL
 * (`PgPurgeLog`, which several machines share). "What differs between the logs" in docs/protocol.md says where the storages
 * differ, and why.
 */
export interface LogStorage {
  /**
   * The purges above the reader's position, and a lease. Later purges wait for as long as the lease, or the longest view age,
   * lets the reader use them (R6). A position ahead of the log's head begins another log (R13).
   */
  read(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs?: number): Answer<ViewDelta>;
  /** The purges above a position, for a push (R24). It grants no lease. */
  changesSince(position: Stamp | null): Answer<ViewDelta>;
  /**
   * Gives a purge the next number, or answers one that was sent before with its first receipt (R20). Either all of it happens
   * or nothing.
   */
  append(purge: AppendRequest): Answer<AppendResult>;
  /** A row of the audit trail; `null` if there is none. It counts all confirmations that the storage has been told of. */
  find(seq: number): Answer<PurgeRecord | null>;
  /** The audit trail below `before`, the newest first. */
  list(before: number | null, limit: number): Answer<PurgeRecordPage>;
  /**
   * Records that no view without the purges up to this one can be in use any more, because everybody who could hold one
   * has confirmed them (R24). A position of another log changes nothing.
   */
  settleUpTo(position: Stamp): Answer<void>;
  /** In how many milliseconds the next repetition is due, by the log's clock; `null` if there is none. */
  nextDueInMs(): Answer<number | null>;
  /**
   * Carries out the repetitions that are due: each once, under its own number, and without the id of the first (R20). Many
   * may take several calls.
   */
  runDue(): Answer<void>;
}
