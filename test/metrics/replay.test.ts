import { expect, test } from "vitest";
import { siteStatsSchema } from "../../wire/site-stats-schema.ts";
import type { SpanStats } from "../../wire/stats.ts";
import { RELATIVE_ERROR } from "../../worker/metrics/time-sketch.ts";
import { byDepth } from "../suite/depth.ts";
import { Replay, type Witnessed } from "./replay.ts";

const REQUESTS = byDepth({ test: 1_200, gate: 1_200, all: 10_000, explore: 100_000 });
const PLACES = ["fra/0", "fra/1", "syd/0", "syd/1", "iad/0"];
const KINDS = [
  "/pages/",
  "/pages/",
  "/pages/",
  "/api/",
  "/pass/",
  "/private/",
  "/no-store/",
  "/swr/",
  "/short/",
  "/chunked/",
  "/down/",
];
const MINUTE_MS = 60_000;

test(`after ${REQUESTS} requests in three PoPs the ledger is equal to the record of clients and origin`, {
  tags: ["gate"],
  timeout: 1_200_000,
}, async () => {
  const replay = new Replay(20, { syd: 45_000 });
  const { random } = replay;
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  for (let sent = 0; sent < REQUESTS; sent++) {
    const page = Math.floor(random() ** 3 * 200);
    await replay.send(pick(PLACES), `${pick(KINDS)}${page}?visitor=${page}`);
    if (random() < 0.3) replay.now += replay.takesMs(0, 5000);
    if (sent % 1500 === 700) replay.fate = "loses the answer";
    if (sent % 1500 === 720) replay.fate = "is silent";
    if (sent % 1500 === 740) replay.fate = "answers";
    if (sent % 2000 === 900) replay.restartLog();
    if (sent % 1500 === 1100) replay.kill(pick(PLACES));
  }
  // Twice: a report that was lost is sent again first.
  for (let times = 0; times < 3; times++) await replay.reportAll();

  const { witnessed, heard, killed } = replay;
  const stats = await replay.stats("?last=90d");
  expect(siteStatsSchema.parse(stats)).toEqual(stats);
  expect(killed.length).toBeGreaterThanOrEqual(REQUESTS / 5_000);

  // Isolates that live have reported all that their clients saw; those that were killed lack a minute at most.
  const byIsolate = Map.groupBy(witnessed, ({ isolate }) => isolate);
  const missing: Witnessed[] = [];
  for (const [isolate, answers] of byIsolate) {
    const { requests, until } = heard.get(isolate)!;
    const death = killed.find((each) => each.isolate === isolate);
    if (!death) expect({ isolate, requests }).toEqual({ isolate, requests: answers.length });
    const rest = answers.slice(requests);
    for (const { at } of rest) expect(at - until).toBeLessThanOrEqual(MINUTE_MS);
    missing.push(...rest);
  }
  expect(stats.requests).toBe(witnessed.length - missing.length);
  for (const last of ["90d", "5d", "2h"]) {
    const { requests, fromCache, origin, spans } = await replay.stats(`?last=${last}`);
    const total = (of: (span: SpanStats) => number) => spans.reduce((sum, span) => sum + of(span), 0);
    const summed = [
      total((span) => span.requests),
      total((span) => span.fromCache),
      total((span) => span.origin.asked),
    ];
    expect(summed).toEqual([requests, fromCache, origin.asked]);
  }
  expect(stats.isolates).toMatchObject({ reported: byIsolate.size, silent: killed.length });
  expect(stats.isolates.unheardMs).toBeGreaterThanOrEqual(
    killed.reduce((sum, { isolate, at }) => sum + Math.min(MINUTE_MS, at - heard.get(isolate)!.until), 0),
  );
  expect(missing.length).toBeLessThan(witnessed.length / 100);

  process.stdout.write(
    `ledger: ${stats.requests} of ${witnessed.length} requests heard of, ${missing.length} of ${killed.length} killed isolates ` +
      `not, ${byIsolate.size} isolates in all\n`,
  );

  const counted = witnessed.filter((each) => !missing.includes(each));
  const by = (name: (each: Witnessed) => string | null) => {
    const groups = Map.groupBy(
      counted.filter((each) => name(each) !== null),
      (each) => name(each)!,
    );
    return Object.fromEntries([...groups].map(([key, each]) => [key, each.length]));
  };
  expect(stats.answers).toEqual(by(({ xCache }) => xCache));
  expect(stats.statuses).toEqual(by(({ status }) => String(status)));
  expect(stats.answeredByEdge).toEqual(by(({ xCache, cacheStatus }) => (xCache ? null : detailOf(cacheStatus))));
  expect(stats.store.refused).toEqual(
    by(({ cacheStatus }) => {
      const detail = detailOf(cacheStatus);
      return ["private", "no-store", "stale-on-arrival"].includes(detail ?? "") ? detail : null;
    }),
  );
  // Of the answers that the edge made itself, only those in the origin's place were waited for.
  const isFailed = ({ xCache, cacheStatus }: Witnessed) =>
    xCache === null && detailOf(cacheStatus)?.startsWith("origin-") === true;
  const waited = counted.filter((each) => each.xCache !== null || isFailed(each)).length;
  expect(Math.abs(stats.waits!.count - waited)).toBeLessThan(waited / 100);
  for (const pop of ["fra", "syd", "iad"]) {
    expect(stats.pops[pop]!.requests).toBe(counted.filter((each) => each.pop === pop).length);
    expect((await replay.stats(`?last=90d&pop=${pop}`)).requests).toBe(stats.pops[pop]!.requests);
  }
  const routeOf = ({ path }: Witnessed) => /^\/(api|pages|pass)\//.exec(path)?.[0].concat("*") ?? "(none)";
  const routed = counted.filter((each) => each.xCache !== null || isFailed(each));
  for (const [route, { requests, statuses }] of Object.entries(stats.routes)) {
    const onRoute = routed.filter((each) => routeOf(each) === route);
    const byStatus = Map.groupBy(onRoute, ({ status }) => String(status));
    expect({ route, requests, statuses }).toEqual({
      route,
      requests: onRoute.length,
      statuses: Object.fromEntries([...byStatus].map(([status, each]) => [status, each.length])),
    });
  }
  const stored = new Set(["HIT", "UPDATING", "STALE", "REVALIDATED"]);
  const fromCache = counted.filter(({ xCache }) => stored.has(xCache ?? ""));
  expect(stats.fromCache).toBe(fromCache.length);
  expect(stats.bytes.fromCache).toBe(fromCache.reduce((sum, { bodyBytes }) => sum + bodyBytes, 0));
  // The origin's own record has also what the killed isolates asked, and did not report.
  expect(stats.origin.asked).toBeLessThanOrEqual(replay.asked.length);
  expect(replay.asked.length - stats.origin.asked).toBeLessThanOrEqual(2 * missing.length);
  // A killed isolate may have reported the head of an answer without a length, and not yet the length that it then had.
  expect(stats.bytes.unmeasuredBodies).toBeLessThanOrEqual(killed.length);
  expect(stats.bytes.fromOrigin).toBeLessThanOrEqual(replay.originBytes);

  for (const [tier, times] of Object.entries({
    shared: counted.filter(({ xCache, tookMs }) => (xCache === "HIT" || xCache === "UPDATING") && tookMs > 0),
    origin: counted.filter(({ xCache }) => xCache !== null && xCache !== "HIT" && xCache !== "UPDATING"),
    failed: counted.filter(isFailed),
  })) {
    const measured = stats.times[tier as "shared" | "origin" | "failed"]!;
    const sorted = times.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    expect({ tier, count: measured.count }).toEqual({ tier, count: sorted.length });
    for (const [q, ms] of [
      [0.5, measured.p50Ms],
      [0.95, measured.p95Ms],
      [0.99, measured.p99Ms],
    ] as const) {
      const truth = sorted[Math.floor(q * (sorted.length - 1))]!;
      expect(Math.abs(ms - truth)).toBeLessThanOrEqual(truth * (RELATIVE_ERROR + 0.001));
    }
  }
  expect(stats.times.memory).toBeUndefined();

  const shown = Object.values(stats.top!).flat();
  expect(shown.length).toBeGreaterThan(0);
  for (const { url } of shown) {
    if (/\/(private|no-store|pass|down)\//.test(url)) expect(url).not.toContain("visitor");
  }
  expect(stats.top!.missed.some(({ url }) => url.includes("/pages/") && url.includes("visitor"))).toBe(true);
});

function detailOf(cacheStatus: string): string | null {
  return /detail="?([a-z-]+)/.exec(cacheStatus)?.[1] ?? null;
}

test("an isolate that ends on purpose leaves nothing out", async () => {
  const replay = new Replay(1);
  for (let page = 0; page < 20; page++) await replay.send("fra/0", `/pages/${page}`);
  expect((await replay.stats()).requests).toBe(0);
  await replay.endAll();
  expect(await replay.stats()).toMatchObject({ requests: 20, isolates: { silent: 0, unheardMs: 0, heardShare: 1 } });
});

test("where isolates can be asked, the stats have every request at once, also behind a report that was lost", async () => {
  const replay = new Replay(6);
  replay.asksIsolates = true;
  const expectAll = async () => {
    const { length } = replay.witnessed;
    expect(await replay.stats()).toMatchObject({ isCurrent: true, requests: length });
  };
  for (const place of ["fra/0", "fra/1", "syd/0"]) await replay.send(place, "/pages/1");
  await expectAll();
  await replay.send("fra/1", "/down/1");
  await expectAll();
  replay.now += 2 * MINUTE_MS;
  replay.fate = "loses the answer"; // the ledger has taken it, and the isolate does not know
  await replay.send("syd/0", "/pages/2");
  replay.fate = "answers";
  await replay.send("syd/0", "/pages/3");
  await expectAll();
  expect(await (await replay.metrics("*/*")).text()).toContain('tidemark_responses_total{pop="fra",status="502"} 1\n');
  replay.asksIsolates = false;
  await replay.send("syd/0", "/pages/4");
  const later = await replay.stats();
  expect(later.requests).toBe(replay.witnessed.length - 1);
  expect(later.isCurrent).toBeUndefined();
});

test("reports are a minute apart at least, whether they go with a read or by a call of their own", async () => {
  const replay = new Replay(2);
  for (let second = 0; second < 600; second++) {
    await replay.send("fra/0", `/pages/${second % 5}`);
    replay.now += 500;
  }
  const { number, until } = replay.heard.get("fra/0 0")!;
  expect(number).toBeGreaterThan(4);
  expect(number).toBeLessThanOrEqual(1 + Math.floor((until - replay.witnessed[0]!.at) / MINUTE_MS));
});

test.each(["?scope=galaxy", "?last=0h", "?last=91d", "?last=1w", "?last=", "?lsat=7d"])(
  "stats%s is refused",
  async (query) => {
    const replay = new Replay(3);
    await replay.send("fra/0", "/pages/1");
    expect(await replay.stats(query)).toMatchObject({ code: "invalid", errors: [{ message: expect.any(String) }] });
  },
);

test("without the log, the site's stats are refused and the isolate's own still answer", async () => {
  const replay = new Replay(4);
  await replay.send("fra/0", "/pages/1");
  replay.fate = "is silent";
  expect(await replay.stats()).toMatchObject({ code: "unavailable" });
  expect((await replay.metrics("*/*")).status).toBe(503);
  expect(await replay.isolateStats("fra/0")).toMatchObject({ scope: "isolate", answers: { MISS: 1 } });
});

test("stats, metrics and purges that cannot be read say nothing about the reads that pages wait for", async () => {
  const replay = new Replay(4);
  await replay.send("fra/0", "/pages/1");
  replay.fate = "is silent";
  expect(await replay.stats()).toMatchObject({ code: "unavailable" });
  for (const answer of [replay.metrics("*/*"), replay.purges(), replay.purges("/1")]) {
    expect((await answer).status).toBe(503);
  }
  expect(replay.lines).toEqual([]);
  expect((await replay.isolateStats("fra/0")).log.failedReads).toBe(0);
});

test("what the edge answers itself counts for its route", async () => {
  const replay = new Replay(5);
  await replay.send("fra/0", "/pages/1", { "cache-control": "only-if-cached" });
  await replay.reportAll();
  const { statuses, routes } = await replay.stats();
  expect({ statuses, routes }).toMatchObject({
    statuses: { 504: 1 },
    routes: { "/pages/*": { requests: 1, statuses: { 504: 1 } } },
  });
});

test("a site whose edge has answered everything itself has waits only where it stood in for the origin", async () => {
  const replay = new Replay(5);
  await replay.send("fra/0", "/api/1", { "cache-control": "only-if-cached" });
  await replay.reportAll();
  expect(await replay.stats()).toMatchObject({ requests: 1, routes: { "/api/*": { requests: 1, answers: {} } } });
  expect((await replay.stats()).waits).toBeUndefined();
  const { tookMs } = await replay.send("fra/0", "/down/1");
  await replay.reportAll();
  const stats = siteStatsSchema.parse(await replay.stats());
  expect(stats).toMatchObject({ requests: 2, routes: { "(none)": { requests: 1, answers: {} } } });
  expect(stats).toMatchObject({ waits: { count: 1, meanMs: tookMs }, times: { failed: { count: 1 } } });
});
