import { expect, test } from "vitest";
import { accepts, refuses, startFakeEdge } from "./fake-edge.ts";
import { purgerUnderTest } from "./purger-under-test.ts";
import { createVirtualClock } from "./virtual-clock.ts";

const reason = new Error("the visitor has left");

test("A call whose signal was aborted before sends nothing", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);

  expect(edge.requests).toEqual([]);
});

test("A signal ends a request that is under way, and closes its connection", async () => {
  const leaving = new AbortController();
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, afterwards: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);

  await edge.allClosed();
  expect(edge.requests).toHaveLength(1);
});

test("A signal ends an answer that is being read", async () => {
  const leaving = new AbortController();
  await using edge = await startFakeEdge({ ...accepts, stallsAfterBytes: 20, afterwards: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);
});

test("A signal ends a pause, and no other attempt is made", async () => {
  const leaving = new AbortController();
  const clock = createVirtualClock({ onSleep: (ms) => ms === 100 && leaving.abort(reason) });
  await using edge = await startFakeEdge(refuses("unavailable"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint }, { clock });

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);

  expect(edge.requests).toHaveLength(1);
});

test("The signal of a purger ends its calls, also one that has a signal of its own", async () => {
  const stopping = new AbortController();
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, afterwards: () => stopping.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, signal: stopping.signal });

  await expect(cdn.purgeTags("a", { signal: new AbortController().signal })).rejects.toBe(reason);
});
