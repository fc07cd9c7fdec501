import { expect, test } from "vitest";
import { type ClientEvidence, standingOf } from "../../../worker/rules/queueing/client-class.ts";

const nothing: ClientEvidence = { isRefresh: false, withReceipts: null, session: null, ofNetwork: 7 };
const QUEUE_SINCE = 1_000_000;
const set = (setAt: number, misses = 3) => ({ session: { setAt, misses } });

test.each<[string, Partial<ClientEvidence>, string, number]>([
  ["a client of which nothing is known counts by its network", {}, "other", 7],
  ["a refresh by token goes before all, however much there was", { isRefresh: true, ofNetwork: 255 }, "editor", 0],
  ["a receipt makes an editor", { withReceipts: 120 }, "editor", 120],
  ["but not with more misses than their share", { withReceipts: 121 }, "other", 7],
  ["a session that was set ten minutes before the queue began is known", set(400_000), "known", 3],
  ["one that was set later is not", set(400_001), "other", 7],
  ["nor one with more misses than its share", set(0, 121), "other", 7],
  ["up to its share it is", set(0, 120), "known", 120],
  ["who has both is an editor", { withReceipts: 1, ...set(0) }, "editor", 1],
  ["and without a share of the receipts what the session makes of him", { withReceipts: 121, ...set(0) }, "known", 3],
])("%s", (_, evidence, client, recentMisses) => {
  expect(standingOf({ ...nothing, ...evidence }, QUEUE_SINCE)).toEqual({ client, recentMisses });
});
