import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SharedTier } from "../../worker/store/tiered-store.ts";

// By its address, because its types are those of the Workers runtime.
const { CacheApiTier } = (await import(new URL("../../worker/runtime/cache-api-tier.ts", import.meta.url).href)) as {
  readonly CacheApiTier: new (cache: object) => SharedTier;
};

const KEY = "https://www.example.test/page";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The tier over a Cache API whose answers come after so long. */
function answeringAfter(ms: number): SharedTier {
  const later = () => new Promise((resolve) => setTimeout(resolve, ms, undefined));
  return new CacheApiTier({ match: later, put: later, delete: later });
}

async function outcomesOf(tier: SharedTier): Promise<string[]> {
  const asked = [tier.get(KEY), tier.getBody(`${KEY}\n1`, null), tier.getBody(`${KEY}\n1`, { first: 1, last: 2 })];
  const outcomes = [...asked, tier.delete(KEY)].map((each) => Promise.resolve(each).then(String, String));
  await vi.runAllTimersAsync();
  return Promise.all(outcomes);
}

test("a Cache API that does not answer has failed, so that no visitor waits for it", async () => {
  expect(await outcomesOf(answeringAfter(3_600_000))).toEqual(Array(4).fill("Error: no answer in time"));
});

test("one that is slow has not", async () => {
  expect(await outcomesOf(answeringAfter(1_900))).toEqual(Array(4).fill("undefined"));
});
