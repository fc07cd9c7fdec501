import * as z from "zod/mini";
import { MAX_LISTED_PURGES } from "../wire/purge-record-query.ts";
import { WITH_VALUES } from "./check.ts";
import { misuse } from "./errors.ts";
import { deadlineMsSchema, signalSchema } from "./options.ts";
import type { Accepted, Receipt } from "./receipt.ts";

/** One purge in the edge's audit trail. */
export interface PurgeRecord {
  /** The purge's number. */
  seq: number;
  /** RFC 3339, UTC, by the log's clock. */
  at: string;
  /** The name of the token that was used; `edge` for the invalidation after an unsafe request. */
  by: string;
  /** The `reason` that was given; `null` for none. */
  reason: string | null;
  /** `invalidate` follows an unsafe request: the stored response is validated before it is used again. */
  mode: "hard" | "soft" | "invalidate";
  /** How many items of each kind it has. */
  accepted: Accepted;
  /** Its first items, as many as the log keeps. */
  items: string[];
  /** The total number of different items. */
  itemCount: number;
  /** The `id` that was given; `null` for none. */
  id: string | null;
  /** The number of the purge that this one repeats (`repeatAfterMs`). */
  repeatOf: number | null;
  /**
   * True if, by the log's clock, no PoP serves the purged responses any more. After a soft purge one may do so while it
   * fetches the new ones.
   */
  settled: boolean;
  /** While it has not settled: the machines that share the log and have not confirmed it, where the log can tell. */
  waitsFor?: string[] | undefined;
}

/** A page of the audit trail. */
export interface PurgeRecordPage {
  /** The newest first. */
  purges: PurgeRecord[];
  /** The value of `before` for the next page; `null` on the last page. */
  next: number | null;
}

/** Options of a call that reads the audit trail. */
export interface ReadOptions {
  /** Ends the call, which rejects with the signal's reason. Default: none. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the call with all its attempts and pauses. Default: the purger's `deadlineMs`. */
  deadlineMs?: number | undefined;
}

/** A page of the audit trail, and options of the call. */
export interface PurgesQuery extends ReadOptions {
  /** Only purges with a lower number. Default: from the newest on. */
  before?: number | undefined;
  /** At most this many purges: a whole number from 1 to 500. Default: 50. */
  limit?: number | undefined;
}

/** A checked read of the audit trail: a page of it, or one purge. */
export interface ReadCall {
  readonly query: RecordQuery;
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number | undefined;
}

/** A purge, by the number that one of several edges gave it. */
export interface SeqAtEdge {
  /** The address of the edge, as `endpoints` has it. */
  readonly endpoint: string;
  /** The number that it gave the purge. */
  readonly seq: number;
  /** When it accepted the purge: after a loss of its log, the number may belong to another purge. */
  readonly at?: string | undefined;
}

/** A purge whose status is asked for: its number, or its receipt. */
export type PurgeReference =
  | number
  | (Pick<Receipt, "seq"> & {
      /** When it was accepted: after a loss of the log, its number may belong to another purge. */
      readonly at?: string | undefined;
      readonly edges?: readonly SeqAtEdge[] | undefined;
    });

/** Whether this record is of the purge that is asked for. Records of several edges are compared as they are read. */
export function isOfPurge({ at }: PurgeRecord, purge: PurgeReference): boolean {
  const accepted = typeof purge === "object" && !purge.edges ? purge.at : undefined;
  return accepted === undefined || Date.parse(accepted) === Date.parse(at);
}

/** One purge by its number, or the newest ones; with `before`, the newest of those whose number is lower. */
export type RecordQuery =
  | { readonly seq: number; readonly edges?: readonly SeqAtEdge[] | undefined }
  | { readonly before: number | undefined; readonly limit: number | undefined };

const readOptions = { signal: signalSchema, deadlineMs: deadlineMsSchema };
const readOptionsSchema = z.strictObject(readOptions);
const purgesQuerySchema = z.strictObject({
  before: z.optional(z.int().check(z.positive())),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(MAX_LISTED_PURGES))),
  ...readOptions,
});
const seqSchema = z.int().check(z.positive());

/** Checks a call of `purges`. Throws a `TypeError`. */
export function parsePurgesQuery(query: PurgesQuery = {}): ReadCall {
  const parsed = purgesQuerySchema.safeParse(query, WITH_VALUES);
  if (!parsed.success) throw misuse("purges", parsed.error, purgesQuerySchema);
  const { before, limit, signal, deadlineMs } = parsed.data;
  return { query: { before, limit }, signal, deadlineMs };
}

/** Checks a call of `status`. Throws a `TypeError`. */
export function parseStatusCall(purge: PurgeReference, options: ReadOptions = {}): ReadCall {
  const seq = typeof purge === "object" ? purge?.seq : purge;
  if (!seqSchema.safeParse(seq).success) {
    const dryRun = seq === 0 ? " The receipt of a dry run has no number, because nothing was purged." : "";
    throw new TypeError(
      `status: the first argument must be the number of a purge (1 or more) or its receipt.${dryRun}`,
    );
  }
  const parsed = readOptionsSchema.safeParse(options, WITH_VALUES);
  if (!parsed.success) throw misuse("status, options", parsed.error, readOptionsSchema);
  const edges = typeof purge === "object" ? purge.edges : undefined;
  return { query: { seq, edges }, signal: parsed.data.signal, deadlineMs: parsed.data.deadlineMs };
}
