import { describe, expect, test } from "vitest";
import { addCounts, type CountTree, emptyTree } from "../../worker/metrics/count-tree.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import { ReuseSample } from "../../worker/metrics/reuse-sample.ts";
import type { Origin, OriginAnswer } from "../../worker/ports/origin.ts";
import type { EdgeEvent } from "../../worker/ports/reporter.ts";
import { toWebResponse } from "../../worker/runtime/web-answer.ts";
import { compileSite } from "../../worker/site/site.ts";
import { MemoryOrigin } from "../engine/memory/memory-origin.ts";
import { HOST } from "../engine/scenario.ts";
import { PopUnderTest } from "../flow/pop-under-test.ts";

test("fifty names of unkeyed fields are counted apart, and all others as one", () => {
  const counters = new Counters("http://origin.test", () => undefined);
  const report = (field: string) =>
    counters.report({ kind: "not-stored", because: "unkeyed-field", route: null, url: "/", at: 0, field });
  for (let name = 1; name <= 60; name++) report(`x-${name}`);
  report("x-50");
  report("x-51");

  const { refused, unkeyedFields } = counters.counts().store;
  expect(refused).toEqual({ "unkeyed-field": 62 });
  expect(Object.keys(unkeyedFields)).toHaveLength(51);
  expect(unkeyedFields).toMatchObject({ "x-1": 1, "x-50": 2, "(others)": 11 });
});

test("a field named __proto__ is counted, also in sums that begin with plain objects", () => {
  const more = JSON.parse('{"unkeyedFields":{"__proto__":1}}') as CountTree;
  const sum = addCounts(addCounts({ unkeyedFields: {} }, more), more);
  expect(JSON.stringify(sum)).toBe('{"unkeyedFields":{"__proto__":2}}');
});

test("the first fifty routes of the config are counted apart in every isolate, whichever come first, and all others as one", () => {
  const patterns = Array.from({ length: 60 }, (_, place) => `/r${place}/*`);
  const site = compileSite(
    { origin: "http://origin.test", hosts: ["www.test"], routes: patterns.map((match) => ({ match })) },
    {},
  );
  let sum = emptyTree();
  for (const order of [patterns.toReversed(), patterns]) {
    const counters = new Counters("http://origin.test", () => undefined);
    counters.begin(site.routes, { now: () => 0, runsInMemory: false }, new ReuseSample());
    const own = { kind: "answered-by-edge", status: 502, arrivedAt: 0, detail: "origin-unreachable" } as const;
    for (const route of [...order, null]) counters.report({ ...own, route });
    sum = addCounts(sum, counters.tree().routes);
  }
  const requests = Object.entries(sum).map(([name, counts]) => [name, (counts as CountTree).requests]);
  const names = [...patterns.slice(0, 50), "(none)"];
  expect(Object.fromEntries(requests)).toEqual({
    ...Object.fromEntries(names.map((name) => [name, 2])),
    "(others)": 20,
  });
});

test("a log that takes no purges is not said to be out of reach, and one that cannot be read is, once", () => {
  const lines: string[] = [];
  const counters = new Counters("http://origin.test", (line) => lines.push(line));
  const cause = new Error("its disk is full");
  counters.report({ kind: "log-failed", cause, isPurge: true });
  counters.report({ kind: "log-read", purges: 0 });
  expect(lines).toEqual([]);
  for (let turn = 0; turn < 2; turn++) counters.report({ kind: "log-failed", cause });
  counters.report({ kind: "log-failed", cause, isPurge: true });
  for (let turn = 0; turn < 2; turn++) counters.report({ kind: "log-read", purges: 0 });
  expect(lines).toEqual([
    "The purge log cannot be reached (Error: its disk is full). Until it answers, requests go to the origin.",
    "The purge log answers again.",
  ]);
  expect(counters.counts().log.failedReads).toBe(4);
});

test("an answer of the edge itself counts for its route, if that is known", () => {
  const counters = new Counters("http://origin.test", () => undefined);
  const own = { kind: "answered-by-edge", status: 502, arrivedAt: 0, detail: "origin-unreachable" } as const;
  counters.report({ ...own, route: "/a" });
  counters.report({ ...own, route: null });
  counters.report({ kind: "answered-by-edge", status: 421, arrivedAt: 0, detail: "host-unknown" });
  const { counts, routes } = counters.tree();
  expect(counts).toMatchObject({ requests: 3, statuses: { 502: 2, 421: 1 } });
  expect(routes).toMatchObject({
    "/a": { requests: 1, fromCache: 0, answers: {}, statuses: { 502: 1 } },
    "(none)": { requests: 1, statuses: { 502: 1 } },
  });
});

describe("a request that the edge answers in the origin's place", () => {
  const HANGING: Origin = { url: "http://origin.test", fetch: () => new Promise(() => undefined) };
  const withinSeconds = (pop: PopUnderTest, answer: OriginAnswer, seconds: number): Origin => ({
    ...HANGING,
    fetch: () => pop.scheduler.wait(seconds * 1000).over.then(() => answer),
  });
  const CASES: readonly [detail: string, seconds: number, answer: OriginAnswer | null][] = [
    ["origin-timed-out", 30, { kind: "failed", because: "timed-out", cause: "late" }],
    ["origin-unreachable", 3, { kind: "failed", because: "unreachable", cause: "gone" }],
    ["origin-bad-response", 2, { kind: "failed", because: "bad-response", cause: "no HTTP" }],
    ["origin-busy", 5, null],
  ];

  test.each(CASES)("with %s counts with the %d seconds that it has waited", async (detail, seconds, answer) => {
    const pop = new PopUnderTest();
    const reporter = new Counters("http://origin.test", () => undefined);
    const origin = { url: "http://origin.test", concurrency: 1, queue: { maxMs: 5000 } } as const;
    const timer = { runsInMemory: true, now: () => pop.scheduler.now() };
    const ask = pop.start(answer ? withinSeconds(pop, answer, seconds) : HANGING, {
      reporter,
      timer,
      site: { origin },
    });
    if (answer === null) void ask("/first");
    const asked = pop.head(ask("/slow?id=1"));
    await pop.scheduler.advance(seconds * 1000);
    expect((await asked).headers.get("cache-status")).toContain(detail);
    expect(reporter.tree().routes).toMatchObject({ "(none)": { times: { failed: { sum: seconds * 1000 } } } });
    expect(reporter.takeTop().slowest).toMatchObject([{ url: `http://${HOST}/slow`, weight: seconds * 1000 }]);
  });
});

describe("each kind of event", () => {
  const at = { route: "/a", url: "http://www.test/a?x=1" };
  const CASES: readonly [event: EdgeEvent, counted: object, line?: string][] = [
    [
      { kind: "answered-by-edge", status: 508, arrivedAt: 0, detail: "loop" },
      { answeredByEdge: { loop: 1 }, statuses: { 508: 1 }, requests: 1 },
    ],
    [
      { kind: "answered-by-edge", status: 502, arrivedAt: 0, detail: "origin-unreachable", route: "/a" },
      { answeredByEdge: { "origin-unreachable": 1 }, statuses: { 502: 1 }, requests: 1, fromCache: 0 },
    ],
    [{ kind: "origin-asked" }, { origin: { asked: 1 } }],
    [
      { kind: "origin-answered", ...at, bytes: 5 },
      { origin: { answered: 1 }, bytes: { fromOrigin: 5, unmeasuredBodies: 0 } },
    ],
    [{ kind: "origin-answered", ...at, bytes: null }, { bytes: { fromOrigin: 0, unmeasuredBodies: 1 } }],
    [{ kind: "body-measured", ...at, bytes: 7 }, { bytes: { fromOrigin: 7, unmeasuredBodies: -1 } }],
    [
      { kind: "origin-failed", because: "timed-out", cause: new Error("late"), at: 0 },
      { origin: { failed: 1 } },
      "The origin http://origin.test took too long to answer. Failures so far: 1. Pages that are not cached get 504 or 503 until it answers.",
    ],
    [{ kind: "fill-discarded", because: "purged" }, { store: { discarded: { purged: 1 } } }],
    [{ kind: "not-stored", ...at, because: "private", at: 0 }, { store: { refused: { private: 1 } } }],
    [{ kind: "second-look" }, { secondLooks: { asked: 1, marked: 0 } }],
    [{ kind: "field-marked" }, { secondLooks: { asked: 0, marked: 1 } }],
    [{ kind: "stored", bytes: 9 }, { store: { stored: 1, storedBytes: 9 } }],
    [{ kind: "store-failed", cause: new Error("full") }, { store: { failed: 1 } }],
    [{ kind: "collapsed" }, { collapsed: 1 }],
    [{ kind: "delta-sent", bytes: 90, insteadOfBytes: 1000 }, { deltas: { sent: 1, bytes: 90, savedBytes: 910 } }],
    [{ kind: "asked-past-the-cache" }, { askedPastTheCache: 1 }],
    [{ kind: "token-refused" }, { tokensRefused: 1 }],
    [
      { kind: "log-read", purges: 3 },
      { log: { reads: 1, failedReads: 0 }, purgedKeysRead: 3 },
    ],
    [{ kind: "view-shared" }, { log: { shared: 1 } }],
    [{ kind: "invalidation-dropped" }, { invalidationsDropped: 1 }],
    [{ kind: "purged", items: 4 }, { purges: 1 }],
    [
      { kind: "failed", cause: "a bug", isSentOn: true },
      { failures: 1 },
      "Tidemark failed on a request and sent it to the origin: a bug",
    ],
    [{ kind: "failed", cause: "a bug", isSentOn: false }, { failures: 1 }, "Tidemark failed on a request: a bug"],
  ];

  test.each(CASES)("%j is counted as %j", (event, counted, ...said) => {
    const lines: string[] = [];
    const counters = new Counters("http://origin.test", (line) => lines.push(line));
    counters.report(event);
    expect(counters.tree().counts).toMatchObject(counted);
    expect(lines).toEqual(said);
  });
});

test("of the heaviest URLs, those whose answers are not stored are without their queries, which may be about one visitor", async () => {
  const pop = new PopUnderTest();
  const origin = new MemoryOrigin(pop.scheduler);
  origin.answerBy(({ target }) => ({
    fields: { "cache-control": target.startsWith("/shop") ? "max-age=60" : "no-store" },
    body: "page",
  }));
  const fetch: Origin["fetch"] = (request) => pop.scheduler.wait(1000).over.then(() => origin.fetch(request));
  const reporter = new Counters(origin.url, () => undefined);
  const timer = { runsInMemory: true, now: () => pop.scheduler.now() };
  const ask = pop.start({ url: origin.url, fetch }, { reporter, timer });
  for (const path of ["/shop?page=2", "/account?mail=a%40example.com"]) {
    const asked = Promise.resolve(ask(path)).then((answer) => toWebResponse(answer).text());
    await pop.scheduler.advance(1000);
    await pop.scheduler.settle(asked);
  }
  const { missed, bytes, slowest, notStored } = reporter.takeTop();
  const urls = [missed, bytes, slowest, notStored].map((top) => top.map(({ url }) => url.split(HOST)[1]).sort());
  expect(urls).toEqual([
    ["/account", "/shop?page=2"],
    ["/account", "/shop"],
    ["/account", "/shop?page=2"],
    ["/account"],
  ]);
});

test("an answer that is no HTTP is reported once, and does not mean that the origin is out of reach", () => {
  const lines: string[] = [];
  const counters = new Counters("http://origin.test", (line) => lines.push(line));
  for (let turn = 0; turn < 2; turn++) {
    counters.report({
      kind: "origin-failed",
      because: "bad-response",
      cause: "status 999 as a final response",
      at: turn,
    });
    counters.report({ kind: "origin-answered", route: null, url: "/", bytes: 0 });
  }
  expect(lines).toEqual([
    "The origin http://origin.test gave an answer that is not valid HTTP, or over this edge's limits (status 999 as a final response). Such pages get 502 (origin-bad-response), and no further lines here.",
  ]);
});

test("an origin is said to be out of reach once until it answers, and once a minute if single pages fail", async () => {
  const pop = new PopUnderTest();
  const origin = new MemoryOrigin(pop.scheduler);
  origin.answerBy(({ target }) => (target.endsWith(".php") ? { failure: "reset" } : { body: "page" }));
  const lines: string[] = [];
  const ask = pop.start(origin, { reporter: new Counters(origin.url, (line) => lines.push(line)) });
  const statusOf = async (path: string) => (await pop.head(ask(path))).status;
  const down = (cause: string, failures: number) =>
    `The origin ${origin.url} cannot be reached, or hung up (${cause}). Failures so far: ${failures}. Pages that are not cached get 502 or 503 until it answers.`;
  const up = `The origin ${origin.url} answers again.`;

  for (let turn = 0; turn < 20; turn++) {
    expect([await statusOf(`/${turn}.php`), await statusOf(`/${turn}`)]).toEqual([502, 200]);
  }
  expect(origin.seen).toHaveLength(40);
  expect(lines).toEqual([down("connection reset", 1), up]);

  origin.goDown();
  expect(await statusOf("/soon")).toBe(502);
  await pop.scheduler.advance(60_000);
  for (const path of ["/a", "/b"]) expect(await statusOf(path)).toBe(502);
  expect(lines.splice(2)).toEqual([down("connection refused", 22)]);
  origin.comeUp();
  for (const path of ["/a", "/b"]) expect(await statusOf(path)).toBe(200);
  expect(lines.splice(2)).toEqual([up]);
});

test("a clock that was set back keeps no outage of the origin from the log", () => {
  const lines: string[] = [];
  const counters = new Counters("http://origin.test", (line) => lines.push(line));
  for (const at of [3_600_000, 0]) {
    counters.report({ kind: "origin-failed", because: "unreachable", cause: new Error("refused"), at });
    counters.report({ kind: "origin-answered", route: null, url: "/", bytes: 0 });
  }
  expect(lines).toHaveLength(4);
});
