import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { systemClock } from "../../../sdk/clock.ts";
import { accepts, receiptBody, refuses, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";
import { createVirtualClock } from "../virtual-clock.ts";

const reason = new Error("the visitor has left");

test("A call whose signal is already aborted sends nothing", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

  expect(edge.requests).toEqual([]);
});

test("Aborting the signal ends the request under way and closes its connection", async () => {
  const leaving = new AbortController();
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, afterwards: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);

  await edge.allClosed();
  expect(edge.requests).toHaveLength(1);
});

test("Aborting the signal ends the reading of an answer", async () => {
  const leaving = new AbortController();
  await using edge = await startFakeEdge({ ...accepts, stallsAfterBytes: 20, afterwards: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);
});

test("Aborting the signal ends the pause before a retry, and nothing more is sent", async () => {
  const leaving = new AbortController();
  const clock = createVirtualClock({ onSleep: (ms) => ms === 100 && leaving.abort(reason) });
  await using edge = await startFakeEdge(refuses("unavailable"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);

  expect(edge.requests).toHaveLength(1);
});

test("Aborting the purger's signal ends a call that has its own signal", async () => {
  const stopping = new AbortController();
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, afterwards: () => stopping.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, signal: stopping.signal });

  await expect(cdn.purgeTags("a", { signal: new AbortController().signal })).rejects.toBe(reason);
});

test("A signal for as long as the process runs keeps nothing of the calls that have ended", async () => {
  const { signal } = new AbortController();
  await using edge = await startFakeEdge(refuses("unavailable"), { json: { ...receiptBody, settlesInMs: 50 } });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, signal }, { clock: systemClock });

  const receipt = await cdn.purgeTags("a", { signal });
  await receipt.settled({ signal });

  expect(getEventListeners(signal, "abort")).toEqual([]);
});
