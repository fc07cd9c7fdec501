import { describe, expect, test } from "vitest";
import { BudgetTrial, type Miss } from "../../../tools/counting/budget-trial.ts";
import { DEFAULT_SETTINGS, TrafficAnalysis } from "../../../tools/counting/traffic-analysis.ts";
import { LoggedRequest } from "../../../tools/logs/logged-request.ts";
import { chances } from "../../engine/chances.ts";
import { seed } from "../../suite/seed.ts";
import { budgetCases, outcomeOf } from "./budget-cases.ts";
import { playThroughGate } from "./play-through-gate.ts";

describe("a budget for the origin", () => {
  test.each(budgetCases)("$name", (each) => {
    expect(outcomeOf({ BudgetTrial }, each)).toMatchObject(each.expect);
  });

  test("holds 100,000 misses of one second; those after them come at its end", () => {
    // Of the first 100,000, a hundred come in each millisecond. The others come in the last one.
    const trial = new BudgetTrial({ concurrency: 60_000, originMs: 1, queue: { maxMs: 0, maxWaiting: 0 } });
    for (let each = 0; each < 150_000; each++) trial.take({ at: 7000, client: "", tookMs: null, weight: 1 });
    expect(trial.end()).toMatchObject({ misses: 150_000, mostAtATime: 50_100, turnedAway: { noPlace: 0 } });
  });

  test(`lets misses through as the edge's own queue does (TEST_SEED=${seed})`, async () => {
    const random = chances(seed);
    const below = (count: number) => Math.floor(random() * count);
    const budget = { concurrency: 3, originMs: null, queue: { maxMs: 1200, maxWaiting: 12 } };
    const misses: Miss[] = Array.from({ length: 1500 }, () => ({
      at: 1 + below(80_000),
      // A few clients come often.
      client: `192.0.2.${below(1 + below(40))}`,
      tookMs: 1 + below(400),
      weight: 1,
    })).sort((a, b) => a.at - b.at);
    // A second of which all lines are whole would be spread.
    misses.unshift(
      ...Array.from({ length: 90 }, (_none, second) => ({ ...misses[0]!, at: second * 1000 + 999, tookMs: 0 })),
    );
    misses.sort((a, b) => a.at - b.at);
    const trial = new BudgetTrial(budget);
    for (const miss of misses) trial.take(miss);
    const { waited, longestWaitMs, turnedAway } = trial.end();
    const byGate = await playThroughGate(budget, misses);
    expect({ waited, longestWaitMs, turnedAway: turnedAway.noPlace + turnedAway.tooLong }).toEqual({
      waited: byGate.waits.length,
      longestWaitMs: Math.max(...byGate.waits),
      turnedAway: byGate.turnedAway,
    });
    // Control: all that can happen did.
    expect(waited).toBeGreaterThan(100);
    expect(turnedAway.noPlace).toBeGreaterThan(20);
    expect(turnedAway.tooLong).toBeGreaterThan(20);
  });
});

describe("the misses of a log", () => {
  const budget = { concurrency: 1, originMs: null, queue: { maxMs: 5000, maxWaiting: 1000 } };
  const page = { method: "GET", target: "/a", status: 200, bytes: 5, client: "192.0.2.7" };

  function outcome(...requests: readonly Partial<LoggedRequest>[]) {
    const analysis = new TrafficAnalysis({ ...DEFAULT_SETTINGS, budget });
    for (const [place, request] of requests.entries()) {
      analysis.take(Object.assign(new LoggedRequest(), page, { at: 1 + place * 1001 }, request));
    }
    return analysis.endBudgetTrial()!;
  }

  test.each([
    { name: "a stored page is not a miss the second time", requests: [{}, {}], misses: 1 },
    {
      name: "a page that may not be stored is a miss each time",
      requests: [{ status: 500 }, { status: 500 }],
      misses: 2,
    },
    { name: "an unsafe request is a miss", requests: [{ method: "POST" }, { method: "DELETE" }], misses: 2 },
    { name: "an invalidated page is a miss again", requests: [{}, { method: "POST" }, {}], misses: 3 },
    {
      name: "a route that goes to the origin because of its name has a miss each time",
      requests: [{ target: "/cart/a" }, { target: "/cart/a" }],
      misses: 2,
    },
    {
      name: "a route that refuses many requests has a miss each time from then on",
      requests: [
        { target: "/x/a" },
        { target: "/x/a" },
        { target: "/x/b", status: 403 },
        { target: "/x/b", status: 403 },
        { target: "/x/a" },
      ],
      misses: 4,
    },
    { name: "a line that is not HTTP is not a miss", requests: [{ method: "" }], misses: 0 },
    {
      name: "a request that the edge refuses is not a miss",
      requests: [{ target: "/%00%" }, { target: "/%", method: "POST" }],
      misses: 0,
    },
  ])("$name", ({ requests, misses }) => {
    expect(outcome(...requests)).toMatchObject({ misses });
  });

  test("take as long as the log says, except hits of the cache that wrote it and connections that change protocol", () => {
    const told = [{}, { cacheStatus: "MISS" }, { cacheStatus: "HIT" }, { status: 101 }];
    const requests = told.map((each, place) => ({ ...each, target: `/${place}`, tookMs: place < 2 ? 1000 : 1 }));
    expect(outcome(...requests)).toMatchObject({ misses: 4, timedByLog: 2, meanMs: 1000 });
  });

  test("cost nothing if no budget is requested", () => {
    expect(new TrafficAnalysis().endBudgetTrial()).toBeNull();
  });

  test("count for as many pages as a sampled page represents", () => {
    const analysis = new TrafficAnalysis({
      ...DEFAULT_SETTINGS,
      maxSlots: 1 << 12,
      budget: { ...budget, originMs: 0 },
    });
    for (let each = 0; each < 12_000; each++) {
      analysis.take(Object.assign(new LoggedRequest(), page, { at: each * 10, target: `/${each}` }));
    }
    const { misses, networks } = analysis.endBudgetTrial()!;
    expect(analysis.pages.isExact).toBe(false);
    expect(Math.abs(misses / 12_000 - 1)).toBeLessThan(0.05);
    expect(networks).toEqual([{ network: "192.0.2.7", misses, share: 1 }]);
  });
});
