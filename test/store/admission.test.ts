import { describe, expect, test } from "vitest";
import { FrequencySketch } from "../../worker/rules/hashing/frequency-sketch.ts";
import type { StoredResponse } from "../../worker/rules/storing/stored-response.ts";
import { MemoryTier } from "../../worker/store/memory-tier.ts";
import { Scheduler } from "../engine/scheduler.ts";
import { inGate } from "../suite/depth.ts";

const BODY = new Uint8Array(1000);

/** A page of a few kilobytes. */
function filled(path: string): StoredResponse {
  const reuse = {
    staleWhileRevalidateSeconds: 0,
    staleIfErrorSeconds: null,
    validateAlways: false,
    mayServeStale: true,
    mayServeStaleOverSMaxage: true,
    immutable: false,
    noTransform: false,
  };
  const times = { fetchedAt: 0, receivedAt: 0, initialAgeMs: 0, freshnessSeconds: 60 };
  const key = `https://www.example.test${path}`;
  const rest = {
    variant: [],
    fields: [],
    hiddenFields: [],
    bodyKey: null,
    sharedWithAuthorized: false,
    sharedWithSessions: true,
    stamp: null,
  };
  const head = { key, status: 200, bodyBytes: 1000, givenPurgeKeys: [], reuse, ...times, ...rest };
  return { head, body: BODY };
}

const HOT_PAGES = 200;
/** The number of requests for hot pages before those that are measured. */
const WARMING = 10_000;
const MEASURED = 10_000;

/** The use of a tier: a page is looked up, and put if it was not there. */
interface Subject {
  has(key: string): boolean;
  put(stored: StoredResponse): void;
}

/**
 * The share of requests for hot pages that were hits, when this many of ten requests are for URLs that never come back.
 */
function hotHits(subject: Subject, junkOfTen: number, junkTimes = 1): number {
  const random = new Scheduler(7, 0);
  let asked = 0;
  let junk = 0;
  let hits = 0;
  const ask = (path: string) => {
    const stored = filled(path);
    const isHit = subject.has(stored.head.key);
    if (!isHit) subject.put(stored);
    return isHit;
  };
  while (asked < WARMING + MEASURED) {
    if (random.random() * 10 < junkOfTen) {
      junk++;
      for (let time = 0; time < junkTimes; time++) ask(`/search?q=${junk}`);
      continue;
    }
    // Some pages are requested far more often than others, as on any site.
    const isHit = ask(`/page/${Math.floor(HOT_PAGES * random.random() ** 2)}`);
    if (++asked > WARMING && isHit) hits++;
  }
  return hits / MEASURED;
}

/** Room for the hot pages and a quarter more. */
const ROOM = Math.ceil(HOT_PAGES * 1.25);
const weight = (() => {
  const tier = new MemoryTier(1_000_000);
  tier.put(filled("/page/100"));
  return tier.heldBytes;
})();

function theTier(): Subject {
  const tier = new MemoryTier(weight * ROOM);
  return { has: (key) => tier.get(key) !== undefined, put: (stored) => tier.put(stored) };
}

/** The same room without admission: the least recently used entry is evicted for any new one. */
function withoutAdmission(): Subject {
  const held = new Map<string, true>();
  return {
    has: (key) => {
      if (!held.delete(key)) return false;
      held.set(key, true);
      return true;
    },
    put: ({ head }) => {
      held.set(head.key, true);
      if (held.size > ROOM) held.delete(held.keys().next().value!);
    },
  };
}

describe("a crawl through unbounded URLs does not evict the hot pages from memory", { timeout: 120_000 }, () => {
  test.each([
    ...inGate(1, [
      { junkOfTen: 9, times: 1, atLeast: 0.75 },
      { junkOfTen: 0, times: 1, atLeast: 0.99 },
      { junkOfTen: 5, times: 1, atLeast: 0.95 },
      { junkOfTen: 9, times: 2, atLeast: 0.55 },
    ]),
  ])("$junkOfTen of 10 requests for junk, each $times times", { tags: ["gate"] }, ({ junkOfTen, times, atLeast }) => {
    const withIt = hotHits(theTier(), junkOfTen, times);
    const without = hotHits(withoutAdmission(), junkOfTen, times);
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    process.stdout.write(
      `hot hits, junk ${junkOfTen}/10 ×${times}: ${percent(withIt)} with admission, ${percent(without)} without\n`,
    );
    expect(withIt).toBeGreaterThanOrEqual(atLeast);
    if (junkOfTen > 0) expect(withIt).toBeGreaterThan(without);
  });

  test("pages that become hot are admitted, and pages that cool down are evicted", () => {
    const tier = new MemoryTier(weight * 20);
    const ask = (path: string) => {
      const isHit = tier.get(filled(path).head.key) !== undefined;
      if (!isHit) tier.put(filled(path));
      return isHit;
    };
    for (let round = 0; round < 100; round++) for (let page = 0; page < 15; page++) ask(`/old/${page}`);
    let hits = 0;
    for (let round = 0; round < 200; round++) {
      for (let page = 0; page < 15; page++) if (ask(`/new/${page}`) && round >= 100) hits++;
    }
    expect(hits / 1500).toBeGreaterThan(0.99);
  });
});

describe("FrequencySketch", () => {
  test("counts the requests for a key, up to a bound", () => {
    const sketch = new FrequencySketch();
    expect(Array.from({ length: 17 }, () => sketch.count("a"))).toEqual([
      ...Array.from({ length: 15 }, (_, index) => index + 1),
      15,
      15,
    ]);
    expect(sketch.count("b")).toBe(1);
  });

  test("never counts too few between two halvings, and halves every count", () => {
    const sketch = new FrequencySketch();
    for (let index = 0; index < 8; index++) sketch.count("a");
    for (let index = 8; index < 6399; index++) sketch.count(`other ${index}`);
    expect(sketch.estimate("a")).toBe(8);
    expect(sketch.count("a")).toBe(9);
    sketch.halve();
    expect(sketch.count("a")).toBe(5);
  });

  test("keeps the higher of two counts of a key", () => {
    const sketch = new FrequencySketch();
    sketch.raise("a", 7);
    sketch.raise("a", 3);
    expect(sketch.estimate("a")).toBe(7);
  });
});
