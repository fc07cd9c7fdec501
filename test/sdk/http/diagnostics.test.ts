import { type TracingChannelSubscribers, tracingChannel } from "node:diagnostics_channel";
import { afterEach, expect, test } from "vitest";
import { type PurgeEvent, PurgeRejected, type RequestEvent } from "../../../sdk/index.ts";
import { createRecordingPurger } from "../../../sdk/testing.ts";
import { accepts, receiptBody, refuses, startFakeEdge } from "../fake-edge.ts";
import { purgerUnderTest, TOKEN } from "../purger-under-test.ts";
import { runNode } from "../run-node.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Writes down the name of each event, with what `tell` makes of it. */
function listen<Event extends object>(channel: string, tell: (event: Event) => unknown): unknown[][] {
  const seen: unknown[][] = [];
  const names = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
  const subscribers = Object.fromEntries(
    names.map((name) => [name, (event: unknown) => seen.push([name, tell(event as Event)])]),
  ) as unknown as TracingChannelSubscribers<object>;
  tracingChannel(channel).subscribe(subscribers);
  ends.push(() => tracingChannel(channel).unsubscribe(subscribers));
  return seen;
}

test("A purge is an event with its request and, at the end, its receipt", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const seen = listen<PurgeEvent>("tidemark:purge", ({ endpoint, request, result, error }) => ({
    endpoint,
    request,
    seq: result?.seq,
    error,
  }));

  await cdn.purgeTags("a", { reason: "saved" });

  const event = { endpoint: edge.endpoint, request: { tags: ["a"], reason: "saved", id: "id-1" } };
  expect(seen).toEqual([
    ["start", { ...event, seq: undefined, error: undefined }],
    ["end", { ...event, seq: undefined, error: undefined }],
    ["asyncStart", { ...event, seq: 7, error: undefined }],
    ["asyncEnd", { ...event, seq: 7, error: undefined }],
  ]);
});

test("Each attempt is a separate event, and so is a read of the audit trail", async () => {
  const page = { purges: [], next: null };
  await using edge = await startFakeEdge({ hangsUpAfterBytes: 0 }, refuses("unavailable"), accepts, { json: page });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const seen = listen<RequestEvent>("tidemark:request", ({ method, url, attempt, status, error }) => [
    `${method} ${url.slice(edge.endpoint.length)}`,
    attempt,
    status,
    (error as PurgeRejected | undefined)?.code,
  ]);

  await cdn.purgeTags("a");
  await cdn.purges();

  const purge = "POST /_tidemark/purge";
  expect(seen.filter(([name]) => name === "start" || name === "asyncEnd")).toEqual([
    ["start", [purge, 1, undefined, undefined]],
    ["asyncEnd", [purge, 1, undefined, "unreachable"]],
    ["start", [purge, 2, undefined, undefined]],
    ["asyncEnd", [purge, 2, 503, "unavailable"]],
    ["start", [purge, 3, undefined, undefined]],
    ["asyncEnd", [purge, 3, 200, undefined]],
    ["start", ["GET /_tidemark/purges", 1, undefined, undefined]],
    ["asyncEnd", ["GET /_tidemark/purges", 1, 200, undefined]],
  ]);
  expect(seen.filter(([name]) => name === "error")).toHaveLength(2);
});

test("A purge that fails is an event with the error that its caller gets, subscribed or not", async () => {
  await using edge = await startFakeEdge(refuses("invalid"));
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  await expect(cdn.purgeTags("a")).rejects.toThrow(PurgeRejected);
  const errors = [
    ...[listen<PurgeEvent>("tidemark:purge", ({ error }) => error)],
    ...[listen<RequestEvent>("tidemark:request", ({ error }) => error)],
  ];

  const thrown = await cdn.purgeTags("a").catch((error: unknown) => error);

  expect(thrown).toBeInstanceOf(PurgeRejected);
  for (const seen of errors) expect(seen.find(([name]) => name === "error")).toEqual(["error", thrown]);
});

test("A call that is aborted is an event with the signal's reason, and rejects with it", async () => {
  const leaving = new AbortController();
  const reason = new Error("left");
  await using edge = await startFakeEdge({ stallsAfterBytes: 0, before: () => leaving.abort(reason) });
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const seen = listen<PurgeEvent>("tidemark:purge", ({ error }) => error);

  await expect(cdn.purgeTags("a", { signal: leaving.signal })).rejects.toBe(reason);

  expect(seen.find(([name]) => name === "error")).toEqual(["error", reason]);
});

test("With several edges each of them has an event, and a batch has one for each purge", async () => {
  await using eu = await startFakeEdge(accepts);
  await using us = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoints: [eu.endpoint, us.endpoint] });
  const seen = listen<PurgeEvent>("tidemark:purge", ({ endpoint, request }) => [endpoint, request.id]);

  await cdn.batch((batch) => batch.tags(Array.from({ length: 10_001 }, (_, index) => `song:${index}`)));

  expect(seen.filter(([name]) => name === "start").map(([, told]) => told)).toEqual([
    [eu.endpoint, "id-1.1"],
    [us.endpoint, "id-1.1"],
    [eu.endpoint, "id-1.2"],
    [us.endpoint, "id-1.2"],
  ]);
});

test("A subscriber adds fields to a request, and can neither see nor replace the token", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  const told: string[] = [];
  listen<RequestEvent>("tidemark:request", (event) => {
    event.headers.tracestate = "a=b";
    event.headers.authorization = "Bearer another";
    event.headers.Authorization = "Bearer a third";
    event.headers["Content-Type"] = "text/plain";
    told.push(JSON.stringify(event));
  });
  listen<PurgeEvent>("tidemark:purge", (event) => told.push(JSON.stringify(event)));

  await cdn.purgeTags("a");

  expect(edge.requests[0]?.headers).toMatchObject({
    tracestate: "a=b",
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
  });
  expect(told.length).toBeGreaterThan(4);
  expect(told.join()).not.toContain(TOKEN);
});

test("A traceparent is passed on with every attempt", async () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await using edge = await startFakeEdge(refuses("unavailable"), accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });

  await cdn.purgeTags("a", { traceparent });
  await cdn.purgeTags("b");

  expect(edge.requests.map(({ headers }) => headers.traceparent)).toEqual([traceparent, traceparent, undefined]);
  expect(edge.requests[0]?.body).toEqual({ tags: ["a"], id: "id-1" });
  for (const wrong of ["a", `${traceparent}\r\nx: y`, `${traceparent} `]) {
    await expect(cdn.purgeTags("a", { traceparent: wrong })).rejects.toThrow(
      /^purgeTags, options: traceparent: must be the value of a traceparent field/,
    );
    await expect(createRecordingPurger().purgeTags("a", { traceparent: wrong })).rejects.toThrow(TypeError);
  }
});

test("Receipts are the same with a subscriber and without", async () => {
  await using edge = await startFakeEdge(accepts);
  await using cdn = purgerUnderTest({ endpoint: edge.endpoint });
  listen("tidemark:purge", () => null);
  listen("tidemark:request", () => null);

  expect(JSON.parse(JSON.stringify(await cdn.purgeTags("a")))).toEqual(receiptBody);
});

test("Where each function of the process throws, as in Next's edge runtime, a purge is sent without events", async () => {
  await using edge = await startFakeEdge(accepts);
  const { stdout } = await runNode(`
    process.getBuiltinModule = () => { throw new Error("A Node.js API is used which is not supported"); };
    const { createPurger } = await import(${JSON.stringify(new URL("../../../sdk/index.ts", import.meta.url))});
    await using cdn = createPurger({ endpoint: ${JSON.stringify(edge.endpoint)}, token: ${JSON.stringify(TOKEN)} });
    const { seq } = await cdn.purgeTags("a");
    console.log(seq);
  `);
  expect(stdout).toBe("7\n");
});
