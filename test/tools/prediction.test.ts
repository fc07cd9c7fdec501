import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS, TrafficAnalysis } from "../../tools/counting/traffic-analysis.ts";
import { noCounts } from "../../tools/logs/log-file.ts";
import { isPurge, LoggedRequest } from "../../tools/logs/logged-request.ts";
import { ReplayedEdge } from "../../tools/replay/replayed-edge.ts";
import type { AccessReport } from "../../tools/report/access-report.ts";
import { analyseLogs } from "../../tools/report/analyse-logs.ts";
import { makeReport } from "../../tools/report/make-report.ts";
import { reportPage } from "../../tools/report/report-page.ts";
import { reportText } from "../../tools/report/report-text.ts";
import { compileSite, type Site } from "../../worker/site/site.ts";
import { evaluateSite } from "../docs/site-blocks.ts";
import { chances } from "../engine/chances.ts";
import { byDepth } from "../suite/depth.ts";
import { combinedLine, type GeneratedRequest, generatedLog, generatedRequests, jsonLine } from "./generated-log.ts";

const MIB = 1024 ** 2;
const NOTHING_ELSE = {
  files: ["access.log"],
  counts: noCounts(),
  interrupted: false,
};

/** A request as a reader would fill it. */
function logged({ agent, ...request }: GeneratedRequest, into: LoggedRequest): LoggedRequest {
  into.clear();
  return Object.assign(into, {
    ...request,
    userAgent: agent,
    target: encodeURI(request.target).replaceAll("%25", "%"),
  });
}

/** The report of these requests, and what the edge itself makes of them with the config that the report writes. */
async function predictAndReplay(
  requests: () => Iterable<GeneratedRequest>,
  settings = {},
  memoryBytes: number | null = null,
) {
  const analysis = new TrafficAnalysis({ ...DEFAULT_SETTINGS, ...settings });
  const request = new LoggedRequest();
  for (const each of requests()) analysis.take(logged(each, request));
  const report = makeReport(analysis, NOTHING_ELSE);
  let edge: ReplayedEdge | undefined;
  const site = await siteOf(report);
  for (const each of requests()) {
    edge ??= new ReplayedEdge({ site, startAt: each.at, cacheControl: null, memoryBytes });
    await (isPurge(each) ? edge.purge(logged(each, request)) : edge.play(logged(each, request)));
  }
  return { report, replay: edge!.counts };
}

/** The report of these requests, each a second after the one before. */
function reportOn(requests: readonly Partial<LoggedRequest>[], settings = {}): AccessReport {
  const analysis = new TrafficAnalysis({ ...DEFAULT_SETTINGS, ...settings });
  for (const [second, request] of requests.entries()) {
    const page = { at: 1000 * second, method: "GET", target: "/", status: 200, bytes: 100 };
    analysis.take(Object.assign(new LoggedRequest(), page, request));
  }
  return makeReport(analysis, NOTHING_ELSE);
}

async function siteOf({ config }: AccessReport): Promise<Site> {
  return compileSite(await evaluateSite(config), { hosts: null });
}

/** In points. */
function apart(a: number, b: number): number {
  return Math.abs(a - b) * 100;
}

describe("the predicted hit ratio", () => {
  test.each([
    { lifetimeSeconds: 86_400, seed: 2 },
    ...byDepth({ test: [], gate: [], all: [{ lifetimeSeconds: 600, seed: 1 }] }),
  ])(
    "is within a point of a replay through the edge, with a lifetime of $lifetimeSeconds s",
    { tags: ["gate"] },
    async (settings) => {
      const { report, replay } = await predictAndReplay(
        () => generatedRequests({ seed: settings.seed, requests: 6_000, days: 1 }),
        settings,
      );
      expect(replay).toMatchObject({ requests: report.requests.all, failures: 0, evicted: 0 });
      expect(replay.hits).toBeGreaterThan(1_000);
      expect(apart(report.prediction.hitRatio, replay.hitRatio)).toBeLessThan(1);
      expect(replay.originRequests).toBe(replay.requests - replay.hits);
    },
  );

  test.each(["PURGE", "BAN"])("is that of the edge where a site removes its pages by %s", async (method) => {
    const page = { method: "GET", target: "/blog/a?b", status: 200, bytes: 5_000, agent: "Firefox" };
    const calls = [{}, {}, { method }, { method, status: 405 }, {}, { method, host: "a@[", target: "/blog/c" }, {}];
    const requests = Array.from({ length: 350 }, (_none, second) => ({
      ...page,
      at: 1_000 * second,
      ...calls[second % calls.length],
    }));
    const { report, replay } = await predictAndReplay(() => requests);
    expect(report.requests).toMatchObject({ all: 200, purges: 150, unsafe: 0 });
    expect(replay).toMatchObject({ requests: 200, hits: 149, failures: 0, answers: { HIT: 149, MISS: 51 } });
    expect([report.prediction.hits, report.routes]).toMatchObject([149, [{ path: "/blog", passBecause: null }]]);
  });

  test("by memory is within a point of the edge with that memory alone", async () => {
    const { report, replay } = await predictAndReplay(
      () => generatedRequests({ seed: 3, requests: 6_000, days: 0.2, pages: 6_000 }),
      { lifetimeSeconds: 86_400, memoryBytes: [4 * MIB] },
      4 * MIB,
    );
    // Memory is short here: with more there would be many more hits.
    expect(apart(report.prediction.hitRatio, replay.hitRatio)).toBeGreaterThan(5);
    expect(apart(report.memory[0]!.hitRatio, replay.hitRatio)).toBeLessThan(1);
  });

  test("by memory is that of a full count where pages are sampled: those that are left out take their room, too", () => {
    const random = chances(1);
    const requests = Array.from({ length: 24_000 }, () => ({ target: `/${Math.floor(12_000 * random() ** 2)}` }));
    const settings = { lifetimeSeconds: 86_400, memoryBytes: [4 * MIB] };
    const [all, some] = [1 << 20, 1 << 12].map((maxSlots) => reportOn(requests, { ...settings, maxSlots }));
    expect([all!.prediction.marginOfSampling, some!.prediction.marginOfSampling > 0]).toEqual([0, true]);
    expect(apart(all!.prediction.hitRatio, all!.memory[0]!.hitRatio)).toBeGreaterThan(20);
    expect(apart(some!.memory[0]!.hitRatio, all!.memory[0]!.hitRatio)).toBeLessThan(2);
  });

  test.each(["", "/a", "/b", "/c"])("is nowhere below nothing where each page of %s is asked for once", (folder) => {
    // A sample of such pages represents about as many misses as there are requests, and often more.
    const requests = Array.from({ length: 24_000 }, (_none, page) => ({
      target: `${folder}/${page}`,
      userAgent: "ExampleBot/2.1",
    }));
    const { prediction, hours, busiestHour } = reportOn(requests, { maxSlots: 1 << 12 });
    expect(prediction.marginOfSampling).toBeGreaterThan(0);
    const { hits, sparedPerHour, crawlerHitRatio } = prediction;
    expect(Math.min(hits, sparedPerHour, crawlerHitRatio)).toBeGreaterThanOrEqual(0);
    for (const { requests: all, misses } of [...hours, busiestHour!]) expect(misses).toBeLessThanOrEqual(all);
  });

  test("is that of the edge where monitors ask with HEAD, which renews no page without validators", async () => {
    const minutes = Array.from({ length: 1_440 }, (_none, minute): GeneratedRequest[] => {
      const page = { at: 60_000 * minute, target: "/", status: 200, bytes: 5_000, agent: "Firefox" };
      const monitor = { ...page, method: "HEAD", bytes: 0 };
      if (minute === 430)
        return [
          { ...page, method: "POST" },
          { ...monitor, at: page.at + 1_000 },
        ];
      return minute % 240 === 239 ? [monitor, { ...page, method: "GET" }] : [monitor];
    });
    const { report, replay } = await predictAndReplay(() => minutes.flat());
    expect(replay.answers).toMatchObject({ HIT: report.prediction.hits, MISS: 2 });
  });

  test("is that of the edge where one page is changed again and again", async () => {
    const hours = Array.from({ length: 24 }, (_none, hour): GeneratedRequest[] => {
      const page = { at: 3_600_000 * hour, method: "GET", target: "/", status: 200, bytes: 5_000, agent: "Firefox" };
      const later = Array.from({ length: 50 }, (_page, minute) => ({ ...page, at: page.at + 1_000 + 60_000 * minute }));
      return [{ ...page, method: "POST" }, ...later];
    });
    const { report, replay } = await predictAndReplay(() => hours.flat(), { lifetimeSeconds: 3_600 });
    expect(report.prediction.hits).toBe(24 * 49);
    expect(replay.answers).toMatchObject({ HIT: 24 * 49, MISS: 24 });
  });

  test("is that of the edge where each change is answered by a redirect", async () => {
    const minutes = Array.from({ length: 50 }, (_none, minute): GeneratedRequest[] => {
      const page = { at: 60_000 * minute, method: "GET", target: "/", status: 200, bytes: 5_000, agent: "Firefox" };
      const comments = { ...page, target: "/comments" };
      return [page, ...Array(20).fill(comments), { ...comments, method: "POST", status: 303 }];
    });
    const { report, replay } = await predictAndReplay(() => minutes.flat());
    expect(report.prediction.hits).toBe(49 + 50 * 19);
    expect(replay.answers).toMatchObject({ HIT: report.prediction.hits });
  });

  test("of a sample is within its margin of a full count, for every lifetime", { tags: ["deep"] }, () => {
    const [all, some] = [1 << 20, 1 << 12].map((maxSlots) => {
      const analysis = new TrafficAnalysis({ ...DEFAULT_SETTINGS, maxSlots });
      const request = new LoggedRequest();
      for (const each of generatedRequests({ seed: 4, requests: 40_000, days: 3, pages: 60_000 }))
        analysis.take(logged(each, request));
      return makeReport(analysis, NOTHING_ELSE);
    }) as [AccessReport, AccessReport];
    // More than twice as many as the small table holds.
    expect(all.keys.withRules).toBeGreaterThan(6_000);
    expect(all.prediction.marginOfSampling).toBe(0);
    expect(some.prediction.marginOfSampling).toBeGreaterThan(0);
    expect(some.prediction.marginOfSampling).toBeLessThan(0.03);
    for (const [index, { hitRatio }] of all.lifetimes.entries())
      expect(apart(hitRatio, some.lifetimes[index]!.hitRatio)).toBeLessThan(100 * some.prediction.marginOfSampling);
    expect(Math.abs(some.keys.withRules / all.keys.withRules - 1)).toBeLessThan(0.05);
  });
});

describe("spellings of pages, more of them than the tables hold", () => {
  /** A report of pages that are each asked for three times, with a spelling for each of these times. */
  function reportOf(pages: number, spellingOf: (page: number, time: number) => string): AccessReport {
    const analysis = new TrafficAnalysis({ ...DEFAULT_SETTINGS, maxSlots: 1 << 13 });
    const request = new LoggedRequest();
    for (let number = 0; number < pages * 3; number++) {
      const target = spellingOf(number % pages, Math.floor(number / pages));
      Object.assign(request, { at: number, method: "GET", target, status: 200, bytes: 100 });
      analysis.take(request);
    }
    return makeReport(analysis, NOTHING_ELSE);
  }

  test("are as many as the pages where each has one, and have as many hits", { tags: ["deep"] }, () => {
    for (const pages of [6_000, 20_000, 90_000]) {
      const { keys, prediction } = reportOf(pages, (page) => `/page-${page}`);
      expect(keys.withoutRules).toBe(keys.withRules);
      expect(prediction.hitRatioWithoutKeyRules).toBeLessThanOrEqual(prediction.hitRatio);
      expect(apart(prediction.hitRatioWithoutKeyRules, prediction.hitRatio)).toBeLessThan(1);
    }
  });

  test("are about as many as there are where pages have several", { tags: ["deep"] }, () => {
    const { keys, prediction } = reportOf(20_000, (page, time) => `/page-${page}?utm_source=${time}`);
    expect(Math.abs(keys.withRules / 20_000 - 1)).toBeLessThan(0.05);
    expect(Math.abs(keys.withoutRules / 60_000 - 1)).toBeLessThan(0.05);
    expect(prediction.hitRatio).toBeGreaterThan(0.6);
    expect(prediction.hitRatioWithoutKeyRules).toBeLessThan(0.05);
  });

  test.each([
    ["one each", (page: number) => `/page-${page}`],
    ["one or four", (page: number, time: number) => `/page-${page}${page % 2 ? `?utm_source=${time % 4}` : ""}`],
    ["their key and another", (page: number, time: number) => `/page-${page}${time % 2 ? "?gclid=1" : ""}`],
  ])("have as many hits as if all were counted, of pages with %s", (_name, spellingOf) => {
    const [some, all] = [1 << 12, 1 << 17].map((maxSlots) => {
      const analysis = new TrafficAnalysis({ ...DEFAULT_SETTINGS, maxSlots });
      const request = new LoggedRequest();
      // Bursts of four requests, after the lifetime or within it.
      for (const hours of [0, 0.5, 1.2, 3, 5, 5.2]) {
        for (let page = 0; page < 6_000; page++) {
          for (let time = 0; time < 4; time++) {
            const at = 3_600_000 * hours + page;
            Object.assign(request, {
              at,
              method: "GET",
              target: spellingOf(page, time + hours),
              status: 200,
              bytes: 100,
            });
            analysis.take(request);
          }
        }
      }
      return makeReport(analysis, NOTHING_ELSE);
    }) as [AccessReport, AccessReport];
    expect(some.prediction.hitRatio).not.toBe(all.prediction.hitRatio);
    expect(apart(some.prediction.hitRatioWithoutKeyRules, all.prediction.hitRatioWithoutKeyRules)).toBeLessThan(3);
    expect(Math.abs(some.keys.withoutRules / all.keys.withoutRules - 1)).toBeLessThan(0.05);
  });

  test("of one page are counted apart from the pages", () => {
    const { keys } = reportOf(20_000, (page, time) => `/page?gclid=${page}-${time}`);
    expect(keys.withRules).toBe(1);
    expect(Math.abs(keys.withoutRules / 60_000 - 1)).toBeLessThan(0.05);
  });
});

describe("a report", () => {
  let folder: string;
  let report: AccessReport;
  let log: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidemark-report-"));
    log = join(folder, "access.log");
    await writeFile(log, generatedLog({ seed: 1, requests: 10_000, days: 2 }, combinedLine));
    report = await analyseLogs({ files: [log] });
  });
  afterAll(() => rm(folder, { recursive: true }));

  test("describes the traffic", () => {
    expect(report.from).toBe("2026-10-05T00:01:18.000Z");
    expect(report.hours.reduce((sum, { requests }) => sum + requests, 0)).toBe(report.requests.all);
    expect(report.routes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(["/api", "/blog", "/songs", "/static"]),
    );
    expect(report.prediction.hitRatioWithoutKeyRules).toBeLessThan(report.prediction.hitRatio);
    expect(report.lifetimes.map(({ hitRatio }) => hitRatio)).toEqual(
      report.lifetimes.map(({ hitRatio }) => hitRatio).toSorted((a, b) => a - b),
    );
    expect(report.warm[0]!.url).toMatch(/^\/static\//);
  });

  test("leaves personal, refused and written pages to the origin", () => {
    expect(Object.fromEntries(report.routes.map(({ path, passBecause }) => [path, passBecause]))).toMatchObject({
      "/admin": "its name suggests personal pages",
      "/comments": "many of its requests change something",
      "/blog": null,
    });
    expect(report.config).toContain('{ match: "/admin{/*}?", pass: true }');
  });

  test("stores pages that browsers ask for leave to read: a preflight changes nothing", () => {
    const asked = [{ method: "OPTIONS", target: "/api", status: 204 }, { target: "/api" }];
    const { routes, prediction } = reportOn(Array.from({ length: 60 }, () => asked).flat());
    expect(routes).toMatchObject([{ path: "/api", passBecause: null }]);
    expect(prediction.hits).toBe(59);
  });

  test("counts requests for what is left to the origin as misses everywhere", () => {
    const visits = Array.from({ length: 40 }, (_none, visit) => [
      { userAgent: visit % 2 === 0 ? "ExampleBot/2.1" : "Firefox" },
      { target: `/account/${visit % 20}`, userAgent: "ExampleBot/2.1", bytes: MIB / 8 },
    ]);
    const report = reportOn(visits.flat(), { memoryBytes: [MIB] });
    const { prediction, hours, busiestHour, memory } = report;
    expect(prediction).toMatchObject({ hitRatio: 39 / 80, crawlerHitRatio: 19 / 60 });
    expect(busiestHour).toMatchObject({ requests: 80, misses: 41 });
    expect(hours.reduce((sum, { misses }) => sum + misses, 0)).toBe(41);
    // Memory has room for the page that is stored, and for none of the others.
    expect(memory).toEqual([{ bytes: MIB, hitRatio: 39 / 80 }]);
  });

  test("counts no misses by hour for a route that seemed to be left to the origin, and is not", () => {
    const write = { method: "POST", target: "/api" };
    const requests = Array.from({ length: 200 }, (_none, place) =>
      place < 20 && place % 2 === 1 ? write : { target: "/api" },
    );
    const { routes, prediction, busiestHour, hours } = reportOn(requests);
    expect(routes).toMatchObject([{ path: "/api", passBecause: null }]);
    expect(busiestHour?.misses).toBe(200 - prediction.hits);
    expect(hours.reduce((sum, { misses }) => sum + misses, 0)).toBe(200 - prediction.hits);
  });

  test("lists paths with few requests together, also where these are refused or change something", () => {
    const analysis = new TrafficAnalysis();
    const request = new LoggedRequest();
    const take = (times: number, method: string, target: string, status: number) => {
      for (let time = 0; time < times; time++) {
        request.clear();
        analysis.take(Object.assign(request, { at: 1000, method, target, status, bytes: 100 }));
      }
    };
    take(19_000, "GET", "/blog/a", 200);
    take(60, "GET", "/members/a", 403);
    take(60, "POST", "/votes", 204);
    take(3, "GET", "/account", 200);
    for (let path = 0; path < 100; path++) {
      take(4, "POST", `/written-${path}.php`, 405);
      take(4, "GET", `/refused-${path}.php`, 403);
    }
    const { routes, config } = makeReport(analysis, NOTHING_ELSE);
    expect(routes).toMatchObject([
      { path: "/blog", passBecause: null },
      { path: "/members", passBecause: "it answers 401 or 403" },
      { path: "/votes", passBecause: "many of its requests change something" },
      { path: "/account", passBecause: "its name suggests personal pages" },
      { path: "others", requests: 800, hitRatio: 0, passBecause: null },
    ]);
    expect(config.match(/pass: true/g)).toHaveLength(3);
  });

  test.each([
    { requests: 100_000, fits: true },
    { requests: 100_001, fits: false },
  ])("compares the busiest day with the free plan: $requests requests", ({ requests, fits }) => {
    const analysis = new TrafficAnalysis();
    const request = new LoggedRequest();
    const take = (at: number) =>
      analysis.take(Object.assign(request, { at, method: "GET", target: "/a", status: 200, bytes: 100 }));
    const busyDay = Date.UTC(2026, 9, 15);
    take(Date.UTC(2026, 9, 5));
    for (let number = 0; number < requests; number++) take(busyDay + Math.floor((number * 86_400_000) / requests));
    take(Date.UTC(2026, 9, 16));
    expect(makeReport(analysis, NOTHING_ELSE).cost.fitsFreePlan).toBe(fits);
  });

  test("names no URL with a secret, although it is requested often", () => {
    const targets = ["/a?page=2", "/feed?access_token=c2VjcmV0", "/shop;jsessionid=0A1B2C"];
    const { warm } = reportOn(Array.from({ length: 60 }, (_none, place) => ({ target: targets[place % 3]! })));
    expect(warm).toEqual([{ url: "/a?page=2", requests: 20 }]);
  });

  test("writes empty the cache without key rules, too, and nothing that is left to the origin is warmed", () => {
    const analysis = new TrafficAnalysis();
    const request = new LoggedRequest();
    for (let number = 0; number < 400; number++) {
      // Of twenty: 15 visits to a page, with a comment after the third, and a visitor who logs in twice.
      const method = [3, 17, 19].includes(number % 20) ? "POST" : "GET";
      const target = number % 20 < 16 ? "/songs" : "/admin/login";
      request.clear();
      analysis.take(Object.assign(request, { at: 1000 * number, method, target, status: 200, bytes: 100 }));
    }
    const { prediction, warm } = makeReport(analysis, NOTHING_ELSE);
    expect(prediction).toMatchObject({ hitRatio: 279 / 400, hitRatioWithoutKeyRules: 279 / 400 });
    expect(warm.map(({ url }) => url)).toEqual(["/songs"]);
  });

  test("writes empty the memory, too", () => {
    const page = { target: "/songs" };
    const round = [page, page, page, page, page, { target: "/large", bytes: MIB }, { ...page, method: "POST" }];
    const { prediction, memory } = reportOn(Array.from({ length: 9 }, () => round).flat(), { memoryBytes: [MIB] });
    expect(prediction.hits).toBe(9 * 4 + 8);
    // The large page does not fit.
    expect(memory).toEqual([{ bytes: MIB, hitRatio: (9 * 4) / 63 }]);
  });

  test("a HEAD renews no spelling of a page and nothing in the memory, either", () => {
    const spelled = { method: "HEAD", target: "/?utm_source=monitor" };
    const byKey = reportOn([spelled, {}, spelled, spelled, {}, spelled, spelled], { lifetimeSeconds: 2 }).prediction;
    expect(byKey).toMatchObject({ hitRatio: 2 / 7, hitRatioWithoutKeyRules: 0 });
    // The large page does not fit.
    const large = Array.from({ length: 10 }, () => ({ target: "/large", bytes: MIB }));
    const monitor = { method: "HEAD" };
    const requests = [{}, ...large, monitor, monitor, monitor];
    const { prediction, memory } = reportOn(requests, { memoryBytes: [MIB], lifetimeSeconds: 10 });
    expect(prediction.hits).toBe(9);
    expect(memory).toEqual([{ bytes: MIB, hitRatio: 0 }]);
  });

  test("of many years, or after a line of an earlier one, still counts hits", () => {
    const analysis = new TrafficAnalysis();
    const request = new LoggedRequest();
    const now = Date.UTC(2026, 9, 5);
    for (const at of [Date.UTC(1995, 0, 1), now, now + 1_800_000, now + 3_600_000]) {
      request.clear();
      analysis.take(Object.assign(request, { at, method: "GET", target: "/a", status: 200, bytes: 100 }));
    }
    expect(makeReport(analysis, NOTHING_ELSE).prediction).toMatchObject({ hits: 1 });
  });

  test("finds which parameters matter and which do not", () => {
    const verdicts = Object.fromEntries(report.parameters.map(({ name, verdict }) => [name, verdict]));
    expect(verdicts).toMatchObject({ q: "matters", session: "seems-idle", fbclid: "dropped", utm_campaign: "dropped" });
  });

  test("suggests the longest query to store", () => {
    const { parameter, cutOffs, suggestedLength } = report.searches!;
    expect(parameter).toBe("/api/search?q");
    expect(cutOffs.map(({ hits }) => hits)).toEqual(cutOffs.map(({ hits }) => hits).toSorted((a, b) => a - b));
    expect(suggestedLength).toBeLessThan(cutOffs.length);
    expect(report.config).toContain(`maxLength: ${suggestedLength}`);
  });

  test("suggests to store no query of a search that would have no hits", () => {
    const words = Array.from({ length: 12 }, (_none, index) => ({ target: `/search?q=${"x".repeat(index + 3)}` }));
    const searched = reportOn(words);
    expect(searched.searches).toMatchObject({ parameter: "/search?q", requests: 12, suggestedLength: 0 });
    expect(searched.config).not.toContain("maxLength");
    expect(reportText(searched)).not.toContain("Store queries");
  });

  test("shows the suggested length among those at which the numbers change", () => {
    const lengths = Array.from({ length: 30 }, (_none, index) => 2 * index + 3);
    const typed = [...lengths, ...lengths.map(() => 41)];
    const searched = reportOn(typed.map((length) => ({ target: `/search?q=${"x".repeat(length)}` })));
    expect(searched.searches).toMatchObject({ suggestedLength: 41 });
    const rows = [...reportText(searched).matchAll(/^(\d+) +\d+ +\d+ +[\d.]+ % +\d+$/gm)];
    expect(rows.map(([, length]) => Number(length))).toEqual(lengths.slice(9, 29));
    const [chart, table] = reportPage(searched).split("Searches, by").at(-1)!.split("<thead>");
    expect(chart).toMatch(/class="marked"[^>]*><text[^>]*>50.0 %<\/text><text class="label"[^>]*>41</);
    expect(table).toContain('<td class="words">41</td>');
  });

  test("counts one entry of a search as one", () => {
    expect(reportText(reportOn([{ target: "/search?q=sea" }, { target: "/search?q=sea" }]))).toContain(
      "Store queries of up to 3 characters in /search?q: 50.0 % of its requests are hits, with 1 entry.",
    );
  });

  test("shows hosts and parameters of requests on its page as they are, and none becomes a part of the page", () => {
    const page = reportPage(
      reportOn(Array.from({ length: 50 }, () => ({ host: "<script>", target: "/a?q=1&copy=2" }))),
    );
    expect(page).toContain("&#60;script&#62;/a?");
    expect(page).not.toMatch(/<script|&copy/);
  });

  test("writes a config that a site accepts, with and without what it leaves as a comment", async () => {
    const uncommented = report.config.replace("// store:", "store:");
    expect(uncommented).not.toBe(report.config);
    for (const code of [report.config, uncommented])
      expect(compileSite(await evaluateSite(code), {}).routes.length).toBeGreaterThan(2);
  });

  test("is the same from JSON, except for the precision of times", { tags: ["deep"] }, async () => {
    const file = join(folder, "json.log");
    await writeFile(
      file,
      Buffer.from(generatedLog({ seed: 1, requests: 10_000, days: 2 }, jsonLine).toString("latin1"), "utf8"),
    );
    const other = await analyseLogs({ files: [file] });
    expect(other.requests).toEqual(report.requests);
    expect(apart(other.prediction.hitRatio, report.prediction.hitRatio)).toBeLessThan(0.1);
  });

  test("that is interrupted covers the lines read so far", async () => {
    const ending = new AbortController();
    const partly = await analyseLogs({
      files: [log],
      signal: ending.signal,
      progress: ({ lines }) => {
        if (lines > 0) ending.abort();
      },
    });
    expect(partly.logs.interrupted).toBe(true);
    expect(partly.requests.all).toBeGreaterThan(0);
    expect(partly.requests.all).toBeLessThan(report.requests.all);
  });

  test("of a cache's own log shows that cache's hit ratio", async () => {
    const file = join(folder, "cached.log");
    const line = (status: string) =>
      `192.0.2.7 - - [05/Oct/2026:00:00:01 +0000] "GET /a HTTP/1.1" 200 5 "-" "-" ${status}\n`;
    await writeFile(file, ["MISS", "HIT", "HIT", "-", "STALE", "BYPASS"].map(line).join(""));
    const cached = await analyseLogs({ files: [file] });
    expect(cached.loggedCache).toEqual({ requests: 5, hitRatio: 0.6 });
    expect(reportText(cached)).toContain("answered 60.0 % of the 5 requests whose cache status it wrote.");
  });
});
