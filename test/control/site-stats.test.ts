import { expect, test } from "vitest";
import { siteStatsSchema } from "../../wire/site-stats-schema.ts";
import { findStats } from "../../worker/control/stats/site-stats.ts";
import type { CountTree } from "../../worker/metrics/count-tree.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import type { LedgerReading } from "../../worker/metrics/ledger-reading.ts";

const counters = new Counters("http://origin.test", () => undefined);

/** The stats of a time for which the ledger has these counts, as the schema reads them. */
async function statsOf(counts: CountTree, routes: CountTree = {}) {
  const isolates = { reported: 1, silent: 0, alive: 1, memoryBytes: 0, memoryMaxBytes: 0 };
  const heard = { heardMs: 60_000, unheardMs: 0, heardShare: 1 };
  const reading: LedgerReading = {
    from: 0,
    to: 60_000,
    spanMs: 60_000,
    spans: [{ at: 0, counts }],
    isolates: { ...isolates, ...heard },
    counts,
    routes,
    top: null,
    pops: { fra: counts },
  };
  const verdict = await findStats(
    {},
    { readLedger: async () => JSON.stringify(reading), nothing: () => counters.tree().counts },
  );
  if (verdict.kind !== "found") throw new Error(verdict.kind);
  return siteStatsSchema.parse(JSON.parse(JSON.stringify(verdict.body)));
}

test("bodies that were measured after the time of their heads leave none unmeasured", async () => {
  const { bytes, spans, pops } = await statsOf({ bytes: { fromOrigin: 5, unmeasuredBodies: -1 } });
  for (const each of [bytes, spans[0]!.bytes, pops.fra!.bytes]) {
    expect(each).toEqual({ fromCache: 0, fromOrigin: 5, unmeasuredBodies: 0 });
  }
});

test("times that were all too short to measure have the mean 0", async () => {
  const times = { memory: { buckets: { 0: 2 } } };
  const none = { count: 2, meanMs: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 };
  const stats = await statsOf({ times }, { "/a": { answers: { HIT: 2 }, times } });
  expect(stats).toMatchObject({ times: { memory: none }, waits: none });
});

test("what visitors waited in vain is among all waits, and takes none from the hits in memory", async () => {
  const times = { memory: { buckets: { 0: 2 } }, failed: { sum: 20_000, buckets: { 345: 2 } } };
  const stats = await statsOf({ times }, { "/a": { answers: { HIT: 3 }, times } });
  expect(stats).toMatchObject({ times: { failed: { count: 2 } }, waits: { count: 5, meanMs: 4000, p50Ms: 0 } });
});

test("a field of requests may have the name of a sketch's buckets", async () => {
  const unkeyedFields = { "x-tenant": 2000, buckets: 1 };
  const { store, pops } = await statsOf({ store: { unkeyedFields } });
  for (const each of [store, pops.fra!.store]) expect(each.unkeyedFields).toEqual(unkeyedFields);
});
