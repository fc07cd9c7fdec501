import { MAX_PURGE_WAIT_MS } from "../../wire/purge-record-query.ts";
import type { Clock } from "../clock.ts";
import type { Settings } from "../options.ts";
import { isOfPurge } from "../purge-record.ts";
import type { CallLimits } from "./attempts.ts";
import { readFromEdge } from "./read-from-edge.ts";
import { heldReading } from "./readings.ts";
import type { Transport } from "./transport.ts";

/** How much longer than the edge's hold an answer may take, in milliseconds. */
const ANSWERED_WITHIN_MS = 5000;

/** An edge that answers earlier than this before its hold ends cannot hold an answer: milliseconds. */
const HELD_AT_LEAST_BUT_MS = 1000;

/**
 * Asks the edge for so many milliseconds whether a purge has settled, again whenever it has held its answer for as long
 * as it may. After a loss of the log, the number may belong to another purge, with another time of acceptance.
 */
export async function hasSettled(
  edge: Settings & Pick<CallLimits, "signals">,
  { seq, at }: { readonly seq: number; readonly at: string },
  waitMs: number,
  transport: Transport,
  platform: { readonly clock: Clock; random(): number },
): Promise<boolean> {
  const { clock } = platform;
  const endsAt = clock.now() + waitMs;
  for (;;) {
    const askedAt = clock.now();
    const heldMs = Math.max(1, Math.min(Math.ceil(endsAt - askedAt), MAX_PURGE_WAIT_MS));
    const read = { ...edge, ...heldReading(seq, heldMs), retries: 0, deadlineMs: heldMs + ANSWERED_WITHIN_MS };
    const page = await readFromEdge(read, transport, platform);
    const [record] = page?.purges ?? [];
    if (record === undefined || !isOfPurge(record, { seq, at })) return false;
    if (record.settled) return true;
    const now = clock.now();
    if (now >= endsAt || now - askedAt < heldMs - HELD_AT_LEAST_BUT_MS) return false;
  }
}
