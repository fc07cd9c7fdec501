import type { WaitingRow } from "./queued-purge.ts";

/** The right of one process to send the rows that it has claimed, until an instant by the store's clock. */
export interface Lease {
  readonly id: string;
  readonly until: number;
}

/** The record of a failure in its row. Instants are epoch milliseconds. */
export interface FailedRow {
  readonly failures: number;
  readonly error: string;
  readonly dueAt: number;
  /** `null` if the purge is tried again. */
  readonly deadAt: number | null;
}

/** The table as the sending of purges needs it. Each call is one transaction, apart from those of the caller. */
export interface OutboxStore {
  /** Epoch milliseconds, by a clock that all processes with this table share. */
  now(): Promise<number>;
  /** Leases the rows that `chooseClaims` chooses, as far as no other process is quicker. */
  claim(lease: Lease, now: number, limit: number): Promise<StoreClaims>;
  /** Deletes a row whose purge has happened, whoever leases it now. */
  remove(seq: number): Promise<void>;
  /** Gives back rows that were not sent. */
  release(seqs: readonly number[], leaseId: string): Promise<void>;
  /** Records a failure and ends the lease. Resolves to false if the row has a lease of another process by now. */
  fail(seq: number, leaseId: string, failed: FailedRow): Promise<boolean>;
}

export interface StoreClaims {
  readonly rows: readonly WaitingRow[];
  readonly nextAt: number | null;
}

const MAX_ERROR_CHARACTERS = 1_000;

/** A failure in the words that its row keeps. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, MAX_ERROR_CHARACTERS).replaceAll("\0", "");
}
