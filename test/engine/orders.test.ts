import { describe, expect, test } from "vitest";
import { startMemoryEngine } from "./memory/memory-engine.ts";
import { ORDERS, playInOrders } from "./orders.ts";
import type { Scenario } from "./scenario.ts";

const page = { fields: { "cache-control": "max-age=60" }, body: "v1" };

const oneByOne: Scenario = {
  id: "orders/one-by-one",
  name: "one request, and much later another one",
  source: "RFC 9111 §4",
  origin: { "/a": [page] },
  steps: [{ get: "/a", expect: { xCache: "MISS" } }, { advanceMs: 1000 }, { get: "/a", expect: { xCache: "HIT" } }],
};

const atOnce: Scenario = {
  ...oneByOne,
  name: "two requests at once",
  steps: [
    { begin: "first", send: { path: "/a" } },
    { get: "/a", expect: { status: 200 } },
    { finish: "first", expect: { status: 200 } },
  ],
};

const behindTheAnswer: Scenario = {
  ...oneByOne,
  name: "a request while the one before still stores its answer",
  steps: [
    { get: "/a", expect: { xCache: "MISS" } },
    { get: "/b", expect: { status: 404 } },
  ],
};

describe("a scenario is played under all orders of events", () => {
  test.each([atOnce, behindTheAnswer])("$name", async (scenario) => {
    expect(await playInOrders(scenario, { all: false })).toBe(ORDERS);
  });

  test("also one by one, if all are requested", async () => {
    expect(await playInOrders(oneByOne, { all: true })).toBe(ORDERS);
  });
});

test("a scenario whose requests are each over before the next one comes is played under the first few", async () => {
  expect(await playInOrders(oneByOne, { all: false })).toBe(3);
});

test("a failure under a later order of events is seen", async () => {
  const played: number[] = [];
  const orders = playInOrders(atOnce, { all: false }, (site, seed) => {
    const engine = startMemoryEngine(site, seed);
    played.push(seed);
    if (seed === 7) void engine.originDown();
    return engine;
  });
  await expect(orders).rejects.toThrow(/step 2 of 3/);
  expect(played).toEqual([1, 2, 3, 4, 5, 6, 7]);
});
