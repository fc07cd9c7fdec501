import { startCdn } from "../../local/index.ts";
import type { Purger } from "../../sdk/index.ts";
import { LatencyHistogram } from "../frame/latency-histogram.ts";
import { median } from "../frame/median.ts";
import { tagOf } from "./product-origin.ts";

const ROUNDS = 5;
const ROUND_MS = 1500;

/** The ways to send purges: items in a call, and calls at the same time. */
const WAYS = [
  { items: 1, calls: 1 },
  { items: 1, calls: 8 },
  { items: 1000, calls: 1 },
  { items: 10_000, calls: 1 },
] as const;

export interface BatchResult {
  readonly items: number;
  readonly calls: number;
  readonly acknowledged: LatencyHistogram;
  readonly itemsPerSecond: number;
}

/** Measures how many items a second can be purged. Each way has a turn in each round, and no tag is purged twice. */
export async function measureBatches(): Promise<BatchResult[]> {
  await using cdn = await startCdn({ site: {} });
  const ways = WAYS.map((way) => ({ ...way, acknowledged: new LatencyHistogram(), rates: [] as number[] }));
  let tags = 0;
  const nextTags = (items: number) => Array.from({ length: items }, () => tagOf(tags++));
  for (let warm = 0; warm < 50; warm++) await cdn.purger.purgeTags(...nextTags(100));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { items, calls, acknowledged, rates } of ways) {
      rates.push(await itemsPerSecond(cdn.purger, calls, () => nextTags(items), acknowledged));
    }
  }
  return ways.map(({ rates, ...way }) => ({ ...way, itemsPerSecond: median(rates) }));
}

async function itemsPerSecond(
  purger: Purger,
  calls: number,
  nextTags: () => string[],
  acknowledged: LatencyHistogram,
): Promise<number> {
  const beganAt = performance.now();
  let items = 0;
  const callRepeatedly = async () => {
    while (performance.now() - beganAt < ROUND_MS) {
      const tags = nextTags();
      const startedAt = performance.now();
      const { accepted } = await purger.purge({ tags });
      acknowledged.addSince(startedAt);
      items += accepted.tags;
    }
  };
  await Promise.all(Array.from({ length: calls }, callRepeatedly));
  return (items * 1000) / (performance.now() - beganAt);
}
