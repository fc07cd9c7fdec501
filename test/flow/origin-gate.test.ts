import { expect, test } from "vitest";
import { OriginGate } from "../../worker/flow/origin/origin-gate.ts";
import type { Permit, Place } from "../../worker/flow/origin/permit-queue.ts";
import { compareTurns } from "../../worker/rules/queueing/queue-order.ts";
import { chances } from "../engine/chances.ts";
import { ManualClock } from "../engine/memory/manual-clock.ts";
import { seed } from "../suite/seed.ts";

const PAGE = { route: null, asksForStream: false, isForOthers: true };
const SOMEBODY = { address: "192.0.2.7", cookieField: null, isRefresh: false, hasReceipt: false };

test("a request that asks the origin twice waits as long as it may each time", async () => {
  const clock = new ManualClock(0);
  const capacity = { concurrency: 1, ofRoutes: new Map(), streams: null, queue: { maxMs: 5000, maxWaiting: 1 } };
  const gate = new OriginGate(capacity, { clock, random: chances(1) });
  const enter = (place = gate.placeOf(SOMEBODY)) => gate.enter(place, PAGE, { report: () => undefined }, {});
  const place = gate.placeOf(SOMEBODY);
  const first = (await enter(place)) as Permit;
  await clock.advance(9000);
  first.end();
  const other = (await enter()) as Permit;
  const second = enter(place);
  await clock.advance(4999);
  other.end();
  expect(await second).not.toBeNull();
});

test("a request that has had its turn leaves no timer behind, which a flood would fill memory with", async () => {
  const clock = new ManualClock(0);
  const capacity = { concurrency: 1, ofRoutes: new Map(), streams: null, queue: { maxMs: 5000, maxWaiting: 2 } };
  const gate = new OriginGate(capacity, { clock, random: chances(1) });
  const enter = () => gate.enter(gate.placeOf(SOMEBODY), PAGE, { report: () => undefined }, {});
  const first = (await enter()) as Permit;
  const second = enter();
  expect(clock.waits).toBe(1);
  first.end();
  expect(await second).not.toBeNull();
  expect(clock.waits).toBe(0);
});

test("a full queue gives up its last place, whatever happened in it before", async () => {
  const random = chances(seed);
  const clock = new ManualClock(0);
  const capacity = { concurrency: 1, ofRoutes: new Map(), streams: null, queue: { maxMs: 5000, maxWaiting: 4 } };
  const gate = new OriginGate(capacity, { clock, random });
  const client = () => ({ ...SOMEBODY, address: `192.0.2.${Math.floor(random() * 6)}` });
  const waiting = new Set<Place>();
  const running: Permit[] = [];
  const settled = () => new Promise(setImmediate);
  for (let step = 0; step < 2000; step++) {
    const what = random();
    if (what < 0.5) {
      const place = gate.placeOf(client());
      const isFull = gate.counts.waiting === 4;
      const last = [...waiting].sort(compareTurns).at(-1);
      waiting.add(place);
      void gate.enter(place, PAGE, { report: () => undefined }, {}).then((permit) => {
        waiting.delete(place);
        if (permit) running.push(permit);
      });
      await settled();
      expect(gate.counts.waiting).toBeLessThanOrEqual(4);
      if (isFull) expect(waiting.has(compareTurns(place, last!) < 0 ? last! : place)).toBe(false);
    } else if (what < 0.6) running.shift()?.end();
    else if (what < 0.8) {
      const [place] = waiting;
      if (place) gate.share(place, client());
    } else await clock.advance(random() < 0.1 ? 5000 : 1);
    await settled();
  }
});
