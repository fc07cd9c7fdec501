import { expect, test } from "vitest";
import { OwnPermits } from "../../worker/flow/origin/own-permits.ts";
import { type Permit, PermitQueue } from "../../worker/flow/origin/permit-queue.ts";
import { ManualClock } from "../engine/memory/manual-clock.ts";

test("a request that asks the origin twice waits as long as it may each time", async () => {
  const clock = new ManualClock(0);
  const queue = new PermitQueue(new OwnPermits(1), { maxMs: 5000, maxWaiting: 1 }, clock);
  const place = { client: "other" as const, since: 0, recentMisses: 1 };
  const first = (await queue.enter(place)) as Permit;
  await clock.advance(9000);
  first.end();
  const other = (await queue.enter({ client: "other", since: 9000, recentMisses: 1 })) as Permit;
  const second = queue.enter(place);
  await clock.advance(4999);
  other.end();
  expect(await second).not.toBeNull();
});
