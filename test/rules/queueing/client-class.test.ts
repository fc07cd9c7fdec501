import { expect, test } from "vitest";
import { type ClientEvidence, standingOf } from "../../../worker/rules/queueing/client-class.ts";

const nothing: ClientEvidence = { isRefresh: false, withReceipts: null, session: null, ofNetwork: 7 };
const QUEUE_SINCE = 1_000_000;
const set = (setAt: number, misses = 3) => ({ session: { setAt, misses } });

test.each<[string, Partial<ClientEvidence>, string, number]>([
  ["an unknown client counts by its network", {}, "other", 7],
  [
    "a refresh with a token goes before all others, however many there were",
    { isRefresh: true, ofNetwork: 255 },
    "editor",
    0,
  ],
  ["a receipt makes an editor", { withReceipts: 120 }, "editor", 120],
  ["a receipt does not, beyond the editors' share of misses", { withReceipts: 121 }, "other", 7],
  ["a session that was set ten minutes before the queue began is known", set(400_000), "known", 3],
  ["a session that was set later is not known", set(400_001), "other", 7],
  ["a session is not known beyond its share of misses", set(0, 121), "other", 7],
  ["a session is known up to its share of misses", set(0, 120), "known", 120],
  ["a client with both is an editor", { withReceipts: 1, ...set(0) }, "editor", 1],
  [
    "without a share for receipts, a client with both counts by the session",
    { withReceipts: 121, ...set(0) },
    "known",
    3,
  ],
])("%s", (_, evidence, client, recentMisses) => {
  expect(standingOf({ ...nothing, ...evidence }, QUEUE_SINCE)).toEqual({ client, recentMisses });
});
