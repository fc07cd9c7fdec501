import { expect, test } from "vitest";
import { OriginGate } from "../../worker/flow/origin/origin-gate.ts";
import type { Permit } from "../../worker/flow/origin/permit-queue.ts";
import { ManualClock } from "../engine/memory/manual-clock.ts";

const SOMEBODY = { address: "192.0.2.7", cookieField: null, isRefresh: false, hasReceipt: false };

test("a request that asks the origin twice waits as long as it may each time", async () => {
  const clock = new ManualClock(0);
  const capacity = { concurrency: 1, ofRoutes: new Map(), queue: { maxMs: 5000, maxWaiting: 1 } };
  const gate = new OriginGate(capacity, { clock, random: Math.random });
  const enter = (place = gate.placeOf(SOMEBODY)) => gate.enter(place, null, { report: () => undefined }, {});
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
