import { expect, test } from "vitest";
import { type TrafficCounts, TrafficReport, WINDOW_MS } from "../../../local/dev/traffic-report.ts";

const HIT = { requests: 1, hits: 1 };

/** A report whose time and later work the test has in hand. */
function reportUnderTest() {
  const told: TrafficCounts[] = [];
  const later: { ms: number; work: () => void }[] = [];
  const report = new TrafficReport((counts) => told.push(counts));
  return {
    told,
    later,
    add: (seen: Partial<TrafficCounts>, now: number) => report.add(seen, now, (ms, work) => later.push({ ms, work })),
  };
}

test("A person's requests are reported at once, one by one", () => {
  const { told, add } = reportUnderTest();

  add({ requests: 1, askedOrigin: 1 }, 0);
  add(HIT, 40);
  add({ purges: 1 }, 80);

  expect(told).toEqual([
    { requests: 1, hits: 0, askedOrigin: 1, purges: 0 },
    { requests: 1, hits: 1, askedOrigin: 0, purges: 0 },
    { requests: 0, hits: 0, askedOrigin: 0, purges: 1 },
  ]);
});

test("Requests of a load test are reported together at the end of a window, none twice and none lost", () => {
  const { told, later, add } = reportUnderTest();

  for (let request = 0; request < 1000; request++) add(HIT, 0);
  expect([told.length, later.map(({ ms }) => ms)]).toEqual([10, [WINDOW_MS]]);
  later[0]!.work();
  expect(told.at(-1)).toEqual({ requests: 990, hits: 990, askedOrigin: 0, purges: 0 });
  expect(told).toHaveLength(11);
});

test("A window ends after its time, even if the work at its end was lost", () => {
  const { told, later, add } = reportUnderTest();

  for (let request = 0; request < 20; request++) add(HIT, 0);
  add(HIT, WINDOW_MS - 1);
  expect(told).toHaveLength(10);
  add(HIT, WINDOW_MS);
  expect(told.at(-1)).toMatchObject({ requests: 12 });
  expect(later).toHaveLength(2);
});

test("At the end of a window, nothing is reported twice", () => {
  const { told, later, add } = reportUnderTest();

  add(HIT, 0);
  later[0]!.work();

  expect(told).toHaveLength(1);
});
