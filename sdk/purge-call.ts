import * as z from "zod";
import { purgeRequestSchema } from "../wire/purge-request.ts";
import { misuse } from "./misuse.ts";
import type { PurgeOptions, PurgeRequest } from "./purge-request.ts";
import type { ItemsThenOptions } from "./purger.ts";
import { deadlineMsSchema, signalSchema } from "./purger-options.ts";

/** One call of a purger, checked. */
export interface PurgeCall {
  /** What goes over the wire, but for an `id` that nobody gave. */
  request: PurgeRequest;
  signal: AbortSignal | undefined;
  deadlineMs: number | undefined;
}

const purgeOptionsSchema = z.strictObject({
  mode: purgeRequestSchema.shape.mode,
  dryRun: purgeRequestSchema.shape.dryRun,
  id: purgeRequestSchema.shape.id,
  reason: purgeRequestSchema.shape.reason,
  refresh: purgeRequestSchema.shape.refresh,
  repeatAfterMs: purgeRequestSchema.shape.repeatAfterMs,
  signal: signalSchema,
  deadlineMs: deadlineMsSchema,
});

/** Joins what a call says in its two places. Throws a TypeError if the call cannot be right. */
export function parseCall(name: string, request: PurgeRequest, options: PurgeOptions = {}): PurgeCall {
  const parsedOptions = purgeOptionsSchema.safeParse(options);
  if (!parsedOptions.success) throw misuse(`${name}, options`, parsedOptions.error);
  const { signal, deadlineMs, ...overrides } = parsedOptions.data;
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  const parsed = purgeRequestSchema.safeParse(
    typeof request === "object" ? { ...request, ...Object.fromEntries(given) } : request,
  );
  if (!parsed.success) throw misuse(name, parsed.error);
  return { request: parsed.data, signal, deadlineMs };
}

/** Tells the options at the end of `purgeUrls` and its like from the items before them. */
export function splitOptions(args: ItemsThenOptions): [items: string[], options: PurgeOptions | undefined] {
  const last = args.at(-1);
  const isOptions = typeof last === "object" && last !== null && !Array.isArray(last) && !(last instanceof URL);
  // Whatever else is not a string stays among the items, and is refused there.
  return isOptions ? [args.slice(0, -1) as string[], last] : [args as string[], undefined];
}
