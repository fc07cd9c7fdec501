import type { LedgerReading } from "../../worker/metrics/ledger-reading.ts";
import type { LedgerClient } from "../../worker/metrics/reports.ts";
import type { PurgeAudit } from "../../worker/ports/purge-log.ts";
import type { PurgeLogClient, ViewDelta } from "../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";

/** What a worker may ask the log. */
export type LogCalls = PurgeLogClient & PurgeAudit & LedgerClient;

/** What `readLedger` gives, as JSON. */
export interface KeptReading extends LedgerReading {
  /** Whether the disk takes purges and reports, as far as was tried. */
  readonly isWritable: boolean;
}

export const CALLS = [
  "read",
  "append",
  "list",
  "find",
  "report",
  "readLedger",
  "findUnseen",
] as const satisfies readonly (keyof LogCalls)[];

export type Call = (typeof CALLS)[number];

/** What a worker sends. */
export type FromWorker =
  /** The first message: the worker's name, and what its view has reached. */
  | { readonly hello: string; readonly position: Stamp | null }
  /** Its view has reached this position. */
  | { readonly confirmed: Stamp }
  | { readonly number: number; readonly call: Call; readonly parameters: readonly unknown[] };

/** What the log sends. */
export type FromLog =
  | { readonly push: ViewDelta }
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly error: string };
