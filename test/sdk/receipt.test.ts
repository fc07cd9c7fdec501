import { expect, test } from "vitest";
import { receiptFrom } from "../../sdk/receipt.ts";
import { accepts, receiptBody, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";
import { createVirtualClock } from "./virtual-clock.ts";

test("A receipt is JSON like the edge's answer", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  const receipt = await cdn.purgeTags("a");

  expect(JSON.parse(JSON.stringify(receipt))).toEqual(receiptBody);
});

test("Unknown fields in a receipt are ignored", async () => {
  await using edge = await startFakeEdge({ json: { ...receiptBody, moon: "full" } });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a")).resolves.toMatchObject(receiptBody);
});

test("A receipt settles settlesInMs after its arrival, however long the request took", async () => {
  const clock = createVirtualClock();
  await using edge = await startFakeEdge({ ...accepts, before: () => clock.advance(300) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  const receipt = await cdn.purgeTags("a");
  clock.advance(1_000);
  const settled = receipt.settled();

  expect(clock.slept.at(-1)).toBe(250);
  clock.advance(250);
  await settled;
});

test("settled() of a receipt that has settled does not sleep", async () => {
  const clock = createVirtualClock();
  const receipt = receiptFrom({ ...receiptBody, settlesInMs: 1_250 }, clock.now(), clock);

  clock.advance(1_250);
  await receipt.settled();

  expect(clock.slept).toEqual([]);
});

test("A timer that fires early does not make a receipt settle early", async () => {
  const clock = createVirtualClock();
  const slept: number[] = [];
  const hasty = {
    now: clock.now,
    async sleep(ms: number) {
      slept.push(ms);
      clock.advance(ms > 1 ? ms - 1 : ms);
    },
  };

  await receiptFrom({ ...receiptBody, settlesInMs: 1_250 }, clock.now(), hasty).settled();

  expect(slept).toEqual([1_250, 1]);
});

test("A wait longer than the longest timer is made of several timers", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 2_147_483_647 });

  await receiptFrom({ ...receiptBody, settlesInMs: 2_147_483_648 }, clock.now(), clock).settled();

  expect(clock.slept).toEqual([2_147_483_647, 1]);
});

test("Aborting the signal ends the wait for a receipt to settle", async () => {
  const reason = new Error("not needed any more");
  const leaving = new AbortController();
  const clock = createVirtualClock({ onSleep: () => leaving.abort(reason) });
  const receipt = receiptFrom(receiptBody, clock.now(), clock);

  await expect(receipt.settled({ signal: leaving.signal })).rejects.toBe(reason);
  await expect(receipt.settled({ signal: leaving.signal })).rejects.toBe(reason);
});
