import type { Turns } from "../../package/turns.ts";
import { MAX_PURGE_WAIT_MS } from "../../wire/purge-record-query.ts";
import { type Clock, MAX_SLEEP_MS } from "../clock.ts";
import { PurgeError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { isOfPurge } from "../purge-record.ts";
import { retryAfterMsOf } from "./attempts.ts";
import { heldReading, readFromEdge } from "./read-from-edge.ts";
import { retryPauseMs } from "./retry-pause.ts";
import type { Transport } from "./transport.ts";

/** How much longer than the edge's hold an answer may take, in milliseconds. */
const ANSWERED_WITHIN_MS = 5000;

/** An edge that answers earlier than this before its hold ends, or before half of a short one, cannot hold: milliseconds. */
const HELD_AT_LEAST_BUT_MS = 1000;

interface Question {
  /** After a loss of the log, the number may belong to another purge, with another time of acceptance. */
  readonly purge: { readonly seq: number; readonly at: string };
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** For the reads that the edge holds, and the pauses after failed ones. Absent: each is sent at once. */
  readonly turns?: Turns | undefined;
}

/**
 * Asks the edge for so many milliseconds whether a purge has settled: again whenever it has held its answer for as long
 * as it may, and after a pause if the answer is lost. Rejects if the edge refuses.
 */
export async function hasSettled(
  edge: Settings,
  { purge, waitMs, signal, turns }: Question,
  transport: Transport,
  platform: { readonly clock: Clock; random(): number },
): Promise<boolean> {
  const { clock } = platform;
  const endsAt = clock.now() + waitMs;

  /** Undefined if the purge has not settled yet. */
  const ask = async (): Promise<boolean | undefined> => {
    const askedAt = clock.now();
    const heldMs = Math.max(1, Math.min(Math.ceil(endsAt - askedAt), MAX_PURGE_WAIT_MS));
    const limits = { signals: [signal], retries: 0, deadlineMs: heldMs + ANSWERED_WITHIN_MS };
    const page = await readFromEdge({ ...edge, ...heldReading(purge.seq, heldMs), ...limits }, transport, platform);
    const [record] = page?.purges ?? [];
    if (record === undefined || !isOfPurge(record, purge)) return false;
    if (record.settled) return true;
    const heldAtLeastMs = heldMs - Math.min(HELD_AT_LEAST_BUT_MS, heldMs / 2);
    return clock.now() - askedAt < heldAtLeastMs ? false : undefined;
  };

  let failures = 0;
  const askOrPause = async () => {
    try {
      const answer = await ask();
      failures = 0;
      return answer;
    } catch (error) {
      if (!(error instanceof PurgeError && error.retryable)) throw error;
      const pauseMs = retryPauseMs(++failures, retryAfterMsOf(error), platform.random());
      await clock.sleep(Math.min(pauseMs, MAX_SLEEP_MS), signal);
      return undefined;
    }
  };

  do {
    const answer = await (turns ? turns.take(askOrPause) : askOrPause());
    if (answer !== undefined) return answer;
  } while (clock.now() < endsAt);
  return false;
}
