import * as z from "zod/mini";
import { WITH_VALUES } from "./check.ts";
import { misuse } from "./errors.ts";
import { deadlineMsSchema, signalSchema } from "./options.ts";
import type { ReadOptions } from "./purge-record.ts";

/** The time and the place of stats, and options of the call. */
export interface StatsQuery extends ReadOptions {
  /** The last minutes, hours or days, like `"15m"`, `"24h"` or `"7d"`: at most 90 days. Default: `"24h"`. */
  last?: string | undefined;
  /** Only this PoP. Default: the whole site. */
  pop?: string | undefined;
}

/** A checked read of the site's ledger. */
export interface StatsCall {
  readonly query: Pick<StatsQuery, "last" | "pop">;
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number | undefined;
}

const statsQuerySchema = z.strictObject({
  last: z.optional(z.string().check(z.regex(/^[1-9][0-9]{0,5}[mhd]$/, 'must be like "15m", "24h" or "7d"'))),
  pop: z.optional(z.string().check(z.minLength(1))),
  signal: signalSchema,
  deadlineMs: deadlineMsSchema,
});

/** Checks a call of `stats`. Throws a `TypeError`. */
export function parseStatsCall(query: StatsQuery = {}): StatsCall {
  const parsed = statsQuerySchema.safeParse(query, WITH_VALUES);
  if (!parsed.success) throw misuse("stats", parsed.error, statsQuerySchema);
  const { last, pop, signal, deadlineMs } = parsed.data;
  return { query: { last, pop }, signal, deadlineMs };
}
