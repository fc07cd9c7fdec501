import { expect, test } from "vitest";
import { accepts, refuses, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest } from "../purger-under-test.ts";
import { createVirtualClock } from "../virtual-clock.ts";

test("A purge goes to the control plane as JSON, with the token and a fresh id", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: `${edge.endpoint}/`, token: " a-token\n" });

  await cdn.purge({ tags: ["song:42"], urls: ["/song/42"] }, { reason: "saved", refresh: true });

  expect(edge.requests).toMatchObject([
    {
      method: "POST",
      path: "/_tidemark/purge",
      headers: { authorization: "Bearer a-token", "content-type": "application/json" },
    },
  ]);
  expect(edge.requests[0]?.body).toEqual({
    tags: ["song:42"],
    urls: ["/song/42"],
    reason: "saved",
    refresh: true,
    id: "id-1",
  });
});

test("Every attempt of a purge carries the same id, and the next purge has another one", async () => {
  await using edge = await startFakeEdge(refuses("unavailable"), { hangsUpAfterBytes: 0 }, accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purgeTags("a");
  await cdn.purgeTags("b");

  expect(edge.requests.map(({ body }) => body.id)).toEqual(["id-1", "id-1", "id-1", "id-2"]);
});

test("Every attempt carries the id that the caller gave", async () => {
  await using edge = await startFakeEdge(refuses("rate-limited"), accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purgeTags("a", { id: "deploy-7" });

  expect(edge.requests.map(({ body }) => body.id)).toEqual(["deploy-7", "deploy-7"]);
});

test("Options override the same fields of the request, unless they are undefined", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purge({ urls: ["/"], id: "one", reason: "first" }, { id: "two", reason: undefined });

  expect(edge.requests[0]?.body).toEqual({ urls: ["/"], id: "two", reason: "first" });
});

const pauses = [
  { name: "Pauses double up to a limit", random: 0, retryAfter: {}, expect: [100, 200, 400, 800, 1_000] },
  {
    name: "Randomness makes pauses up to twice as long",
    random: 1,
    retryAfter: {},
    expect: [200, 400, 800, 1_600, 2_000],
  },
  {
    name: "A Retry-After in seconds is added to the pause",
    random: 0,
    retryAfter: { "retry-after": "1" },
    expect: [1_100, 1_200, 1_400, 1_800, 2_000],
  },
  {
    name: "A Retry-After with a date is counted from the Date of the answer",
    random: 0,
    retryAfter: { "retry-after": "Thu, 01 Jan 2026 00:00:01 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" },
    expect: [1_100, 1_200, 1_400, 1_800, 2_000],
  },
  {
    name: "A Retry-After with a past date adds nothing",
    random: 0,
    retryAfter: { "retry-after": "Thu, 01 Jan 2026 00:00:00 GMT", date: "Thu, 01 Jan 2026 00:00:09 GMT" },
    expect: [100, 200, 400, 800, 1_000],
  },
  {
    name: "A Retry-After that is neither seconds nor a date is ignored",
    random: 0,
    retryAfter: { "retry-after": "soon" },
    expect: [100, 200, 400, 800, 1_000],
  },
];

test.for(pauses)("$name", async ({ random, retryAfter, expect: expected }) => {
  const clock = createVirtualClock({ skipsUpToMs: 9_999 });
  await using edge = await startFakeEdge(refuses("unavailable", {}, retryAfter));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, retries: 5 }, { clock, random: () => random });

  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ code: "unavailable", attempts: 6 });

  expect(clock.slept).toEqual([10_000, ...expected]);
});

test("A pause that would last until the deadline is not begun", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 299 });
  await using edge = await startFakeEdge(refuses("unavailable"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, deadlineMs: 300 }, { clock });

  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ code: "unavailable", attempts: 2 });

  expect(clock.slept).toEqual([300, 100]);
});

test("A pause that ends just before the deadline is begun", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 300 });
  await using edge = await startFakeEdge(refuses("unavailable"), refuses("unavailable"), accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, deadlineMs: 301 }, { clock });

  await expect(cdn.purgeTags("a")).resolves.toMatchObject({ seq: 7 });

  expect(clock.slept).toEqual([301, 100, 200]);
});

test("The deadline of a call overrides the purger's", async () => {
  const clock = createVirtualClock({ skipsUpToMs: 299 });
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, afterwards: () => clock.advance(300) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint, deadlineMs: 60_000 }, { clock });

  await expect(cdn.purgeTags("a", { deadlineMs: 300 })).rejects.toMatchObject({ code: "timeout" });
});

test("The deadline ends a call whose fetch ignores its signal", async () => {
  const clock = createVirtualClock();
  await using cdn = purgerUnderTest(
    {
      endpoint: "https://www.example.com",
      fetch: () => {
        clock.advance(10_000);
        return new Promise(() => {});
      },
    },
    { clock },
  );

  await expect(cdn.purgeTags("a")).rejects.toMatchObject({ code: "timeout", attempts: 1 });
});
