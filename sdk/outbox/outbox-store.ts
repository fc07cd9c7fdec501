import { inspect } from "node:util";
import type { FailureScope } from "./after-failure.ts";
import type { ClaimTerms } from "./claims.ts";
import type { WaitingRow } from "./queued-purge.ts";

/** The right of one process to send its claimed rows, until a time by the store's clock. */
export interface Lease {
  readonly id: string;
  readonly until: number;
}

/** The record of a failure in its row. Instants are epoch milliseconds. */
export interface FailedRow {
  readonly failures: number;
  readonly scope: FailureScope;
  readonly error: string;
  readonly dueAt: number;
  /** `null` if the purge is tried again. */
  readonly deadAt: number | null;
}

/** The table, as the sending of purges uses it. Each call is one transaction, separate from the caller's. */
export interface OutboxStore {
  /** Epoch milliseconds, by a clock that all processes with this table share. */
  now(): Promise<number>;
  /** Leases the rows that `chooseClaims` chooses, unless another process leases them first. */
  claim(lease: Lease, terms: ClaimTerms): Promise<StoreClaims>;
  /** Deletes a row whose purge has happened, even if another process leases it now. */
  remove(seq: number): Promise<void>;
  /** Gives back rows that were not sent. */
  release(seqs: readonly number[], leaseId: string): Promise<void>;
  /** Records a failure and ends the lease. Resolves to false if the row was leased anew or requeued since. */
  fail(seq: number, leaseId: string, failed: FailedRow): Promise<boolean>;
}

export interface StoreClaims {
  readonly rows: readonly WaitingRow[];
  readonly nextAt: number | null;
}

const MAX_ERROR_CHARACTERS = 1_000;

/** The text of a failure for its row. */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : inspect(error);
  return text.slice(0, MAX_ERROR_CHARACTERS).replaceAll("\0", "");
}
