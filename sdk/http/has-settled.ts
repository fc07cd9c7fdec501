import { MAX_PURGE_WAIT_MS } from "../../wire/purge-record-query.ts";
import type { Clock } from "../clock.ts";
import type { Settings } from "../options.ts";
import type { CallLimits } from "./attempts.ts";
import { readFromEdge } from "./read-from-edge.ts";
import { heldReading } from "./readings.ts";
import type { Transport } from "./transport.ts";

/** How much longer than the edge's hold an answer may take, in milliseconds. */
const ANSWERED_WITHIN_MS = 5000;

/**
 * Asks the edge, once, whether a purge has settled. After a loss of the log, the number may belong to another purge,
 * with another time of acceptance.
 */
export async function hasSettled(
  edge: Settings & Pick<CallLimits, "signals">,
  { seq, at }: { readonly seq: number; readonly at: string },
  waitMs: number,
  transport: Transport,
  platform: { readonly clock: Clock; random(): number },
): Promise<boolean> {
  const heldMs = Math.min(waitMs, MAX_PURGE_WAIT_MS);
  const read = { ...edge, ...heldReading(seq, heldMs), retries: 0, deadlineMs: heldMs + ANSWERED_WITHIN_MS };
  const page = await readFromEdge(read, transport, platform);
  const [record] = page?.purges ?? [];
  return record?.settled === true && Date.parse(record.at) === Date.parse(at);
}
