import { spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { topFrame } from "../../cli/text/top-frame.ts";
import { lastMinuteOf, sinceLook } from "../../cli/text/top-rates.ts";
import type { PurgeRecord } from "../../sdk/index.ts";
import { PROBLEM_CODES, type Problem } from "../../wire/problem.ts";
import type { SiteStats } from "../../wire/stats.ts";
import { statsOfTenRequests } from "../metrics/replay.ts";
import { MAIN } from "../server/serve/running-server.ts";
import { inGate } from "../suite/depth.ts";
import { listenLocally, localUrl } from "../suite/local-url.ts";
import { tidemark } from "./run-command.ts";

const ESCAPE = "\u001b";

const PURGE: PurgeRecord = {
  seq: 7,
  at: "2026-01-01T12:00:00.000Z",
  by: "deploy",
  reason: null,
  mode: "hard",
  accepted: { urls: 1, tags: 1, prefixes: 0, hosts: 0, everything: false },
  items: ["tag:song:42", "/plog/"],
  itemCount: 2,
  id: null,
  repeatOf: null,
  settled: false,
};

let stats: SiteStats;
let failing: Problem | null;
/** Whether the edge leaves a request without an answer. */
let isSilent: (url: string) => boolean;
const asked = new EventEmitter();
const edge = createServer((request, response) => {
  asked.emit("asked", request.url);
  if (isSilent(request.url!)) return;
  const body = request.url!.includes("/purges") ? { purges: [PURGE], next: null } : stats;
  response.writeHead(failing?.status ?? 200, { "content-type": "application/json" });
  response.end(JSON.stringify(failing ?? body));
});

beforeAll(async () => {
  stats = await statsOfTenRequests();
  await listenLocally(edge);
});
beforeEach(() => {
  failing = null;
  isSilent = () => false;
});
afterAll(() => void edge.close());

const problem = (code: "unauthorized" | "unavailable"): Problem => {
  const { status, title } = PROBLEM_CODES[code];
  return { type: `urn:tidemark:problem:${code}`, title, status, code, detail: "a detail" };
};

const environment = () => ({
  ...process.env,
  NO_COLOR: "1",
  TIDEMARK_ENDPOINT: localUrl(edge),
  TIDEMARK_TOKEN: "a-token",
});

const run = (...args: readonly string[]) =>
  tidemark({ args: ["top", ...args], env: { TIDEMARK_ENDPOINT: localUrl(edge), TIDEMARK_TOKEN: "a-token" } });

describe("before the first counts", () => {
  const empty = (reported: number): SiteStats => ({
    ...stats,
    requests: 0,
    spans: [],
    isolates: { ...stats.isolates, reported },
  });
  test.each([
    [0, "Last 15 minutes: no isolate has reported yet. Each isolate reports once a minute."],
    [2, "Last 15 minutes: no requests were reported. Isolates report once a minute."],
  ])("of %i isolates that have reported, top says so", async (reported, said) => {
    const all = stats;
    stats = empty(reported);
    const { stdout } = await run("--once");
    stats = all;
    expect(stdout).toContain(said);
  });
});

test("stats that lack something are named with what they lack", async () => {
  const all = stats;
  const { routes: _, ...others } = stats;
  stats = others as SiteStats;
  const { exit, stderr } = await run("--once");
  stats = all;
  expect({ exit, stderr }).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining("answered with stats that are not complete, from routes on"),
  });
});

describe("in a pipe", () => {
  test.each([[[]], [["--once"]]])("it prints once, without a sign for a terminal, and ends: %j", async (args) => {
    const { stdout, stderr, exit } = await run(...args);
    expect({ stderr, exit }).toEqual({ stderr: "", exit: 0 });
    expect(stdout).not.toContain(ESCAPE);
    expect(stdout).toMatch(/^15 min +10 requests, 60 % from cache/m);
    expect(stdout).toMatch(/^ {2}\d\d:\d\d:\d\d {2}7 {2}tag:song:42 and 1 more, by deploy, not settled yet$/m);
  });

  test("--json prints the stats as the edge sends them, with the purges", async () => {
    const { stdout, exit } = await run("--json", "--once");
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      stats: JSON.parse(JSON.stringify(stats)),
      purges: [PURGE],
      trouble: null,
    });
  });

  test("--json goes on until its reader has enough", { tags: ["deep"] }, async () => {
    const child = spawn(process.execPath, [MAIN, "top", "--json", "--every", "1"], { env: environment() });
    const exited = once(child, "exit");
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await exited).toEqual([0, null]);
  });

  test("--json ends at Ctrl-C while the edge is asked", { tags: ["deep"] }, async () => {
    const child = spawn(process.execPath, [MAIN, "top", "--json", "--every", "1"], { env: environment() });
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    await once(child.stdout, "data");
    isSilent = (url) => url.includes("/purges");
    while (!(await once(asked, "asked"))[0].includes("/purges"));
    child.kill("SIGINT");
    const [stdout, stderr, exit] = await ended;
    expect({ stderr, exit }).toEqual({ stderr: "", exit: [0, null] });
    expect(stdout.trim().split("\n")).toHaveLength(1);
  });

  test.each([
    ["unauthorized", 1, "does not know the token"],
    ["unavailable", 3, "cannot answer at the moment"],
  ] as const)("an edge that answers with %s ends it with %i", async (code, ends, says) => {
    failing = problem(code);
    const { stderr, exit, stdout } = await run();
    expect({ exit, stdout }).toEqual({ exit: ends, stdout: "" });
    expect(stderr).toContain(says);
  });
});

const hasScript = spawnSync("script", ["--version"]).error === undefined;
const NOT_RUN = "tidemark top in a terminal is SKIPPED, because this machine has no command script";
if (!hasScript) process.stdout.write(`${NOT_RUN}\n`);

describe.skipIf(!hasScript)(hasScript ? "in a terminal" : NOT_RUN, () => {
  test.each(
    inGate(1, [
      ["q", "q"],
      ["Ctrl-C", "\u0003"],
    ]),
  )("it redraws, shows trouble, and %s restores the terminal", async (_, key) => {
    const command = `${process.execPath} ${MAIN} top --every 1`;
    const child = spawn("script", ["-qefc", command, "/dev/null"], { env: environment() });
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      shown += piece;
      child.emit("shown");
    });
    const shows = async (pattern: RegExp) => {
      while (!pattern.test(shown)) await once(child, "shown");
    };
    const closed = once(child, "close");
    await shows(/tag:song:42/);
    failing = problem("unavailable");
    await shows(/cannot answer at the moment/);
    failing = null;
    await shows(/cannot answer at the moment.*tag:song:42/s);
    child.stdin.write(key);
    expect(await closed).toEqual([0, null]);
    expect(shown.startsWith(`${ESCAPE}[?1049h`)).toBe(true);
    expect(shown.endsWith(`${ESCAPE}[?25h${ESCAPE}[?1049l`)).toBe(true);
  });
});

describe("a screen", () => {
  const view = () => ({ endpoint: "https://www.example.com", stats, now: null, purges: [PURGE], trouble: null });

  test.each([
    { columns: 20, rows: 5 },
    { columns: 80, rows: 24 },
    { columns: 1, rows: 1 },
  ])("is never larger than the terminal: $columns x $rows", (size) => {
    const lines = topFrame(view(), size);
    expect(lines.length).toBeLessThanOrEqual(size.rows);
    for (const line of lines) {
      expect(line.replaceAll(new RegExp(`${ESCAPE}\\[[\\d;]*m`, "g"), "").length).toBeLessThanOrEqual(size.columns);
    }
  });

  test.each([2, 16])("of 80 x 24 has something of each part, with %i workers", (workers) => {
    const inWords = [
      "On www-1, no disk.",
      "supervisor.",
      ...Array.from({ length: workers }, (_, at) => `worker-${at}.`),
    ];
    const urls = Array.from({ length: 9 }, (_, at) => ({ url: `/${at}`, weight: 9, error: 0, times: 1 }));
    const busy = {
      ...stats,
      machine: { inWords } as NonNullable<SiteStats["machine"]>,
      top: { ...stats.top!, slowest: urls, missed: urls },
    };
    const now = { seconds: 2, requestsPerSecond: 9, originPerSecond: 0, errorsPerSecond: 0, fromCacheShare: 1 };
    const busyView = { ...view(), stats: busy, now, purges: [PURGE, PURGE, PURGE], trouble: "trouble" };
    const shown = topFrame(busyView, { columns: 80, rows: 23 });
    expect(shown).toHaveLength(23);
    const part = (title: RegExp) => shown[shown.findIndex((line) => title.test(line)) + 1];
    expect(shown.join("\n")).toContain("On www-1, no disk.");
    expect(part(/Slowest at the origin/)).toContain("/0");
    expect(part(/Not found in the cache/)).toContain("/0");
    expect(part(/Purges/)).toContain("tag:song:42");
    const whole = topFrame(busyView, { columns: 80, rows: 100 }).join("\n");
    for (const words of [...inWords, "/4"]) expect(whole).toContain(words);
  });

  test("contains nothing by which a visitor or caller could control the terminal", () => {
    const url = { url: `/${ESCAPE}[2J`, weight: 9, error: 0, times: 3 };
    const evil = { ...stats, top: { ...stats.top!, slowest: [url] } };
    const purges = [{ ...PURGE, by: `${ESCAPE}]0;x`, items: ["\u202e"] }];
    const shown = topFrame({ ...view(), stats: evil, purges }, { columns: 200, rows: 100 }).join("\n");
    expect(shown).toContain("3 ms each  /\ufffd[2J");
    expect(shown).not.toContain(`${ESCAPE}[2J`);
    expect(shown).not.toContain("\u202e");
  });

  test("counts for a URL no more than is its own, and says so where the rest is not known", () => {
    const counted = [
      { url: "/often", weight: 900, error: 0, times: 3 },
      { url: "/once", weight: 780, error: 750, times: 1 },
    ];
    const shown = topFrame(
      { ...view(), stats: { ...stats, top: { ...stats.top!, slowest: counted, missed: counted } } },
      { columns: 200, rows: 100 },
    ).map((line) => line.trim());
    expect(shown).toEqual(
      expect.arrayContaining(["300 ms each  /often", "30 ms each  /once", "900  /often", "≤ 780  /once"]),
    );
  });

  test("shows all answers, including the edge's own", () => {
    const answers = { MISS: 12, HIT: 5, BYPASS: 1 };
    const answeredByEdge = { "host-unknown": 1, "origin-unreachable": 3 };
    const shown = (own: SiteStats["answeredByEdge"]) =>
      topFrame(
        { ...view(), stats: { ...stats, requests: 22, answers, answeredByEdge: own } },
        { columns: 200, rows: 40 },
      );
    const shares = "MISS 54.5 %  HIT 22.7 %  BYPASS 4.5 %";
    expect(shown(answeredByEdge).map((line) => line.trim())).toContain(
      `${shares}  answered by the edge 18.2 % (origin-unreachable 3, host-unknown 1)`,
    );
    expect(shown({}).map((line) => line.trim())).toContain(shares);
  });

  test("shows the latest minute that every isolate has reported", () => {
    const span = (at: string, requests: number) =>
      ({
        at,
        requests,
        fromCache: requests / 2,
        statuses: { 200: requests - 3, 404: 2, 502: 1 },
        origin: { asked: 6, answered: 6, failed: 0, awaited: 0, turnedAway: 0 },
        bytes: { fromCache: 0, fromOrigin: 0, unmeasuredBodies: 0 },
        times: {},
      }) satisfies SiteStats["spans"][0];
    const to = "2026-01-01T12:03:30.000Z";
    const spans = [
      span("2026-01-01T12:01:00Z", 120),
      span("2026-01-01T12:02:00Z", 60),
      span("2026-01-01T12:03:00Z", 6),
    ];
    expect(lastMinuteOf({ ...stats, to, spans, spanMs: 60_000 })).toEqual({
      at: "2026-01-01T12:01:00Z",
      requestsPerSecond: 2,
      originPerSecond: 0.1,
      errorsPerSecond: 0.05,
      fromCacheShare: 0.5,
    });
    expect(lastMinuteOf({ ...stats, to, spans: [], spanMs: 60_000 })).toBeNull();
    const current = { ...stats, to, spanMs: 60_000, isCurrent: true } as const;
    expect(lastMinuteOf({ ...current, spans })).toMatchObject({ at: "2026-01-01T12:02:00Z", requestsPerSecond: 1 });
    expect(lastMinuteOf({ ...current, spans: spans.slice(2) })).toMatchObject({ requestsPerSecond: 0.2 });
  });

  test("shows the requests between two looks, if all isolates have reported for both", () => {
    const span = (at: string, requests: number) =>
      ({
        at,
        requests,
        fromCache: requests / 4,
        statuses: { 200: requests - 1, 503: 1 },
        origin: { asked: requests / 2, answered: 0, failed: 0, awaited: 0, turnedAway: 0 },
        bytes: { fromCache: 0, fromOrigin: 0, unmeasuredBodies: 0 },
        times: {},
      }) satisfies SiteStats["spans"][0];
    const look = (from: string, to: string, ...spans: SiteStats["spans"]): SiteStats => ({
      ...stats,
      from: `2026-01-01T12:${from}Z`,
      to: `2026-01-01T12:${to}Z`,
      spans,
      isCurrent: true,
    });
    const oldest = span("2026-01-01T12:00:00Z", 500);
    const before = look("00:00", "15:58", oldest, span("2026-01-01T12:15:00Z", 80));
    // A minute later the oldest one has left the window.
    const now = look("01:00", "16:02", span("2026-01-01T12:15:00Z", 100), span("2026-01-01T12:16:00Z", 20));
    const since = {
      seconds: 4,
      requestsPerSecond: 10,
      originPerSecond: 5,
      errorsPerSecond: 0.25,
      fromCacheShare: 0.25,
    };
    expect(sinceLook(before, now)).toEqual(since);
    expect(sinceLook({ ...before, isCurrent: undefined }, now)).toBeNull();
    expect(sinceLook(before, { ...now, isCurrent: undefined })).toBeNull();
    expect(sinceLook(now, now)).toBeNull();
    const shown = topFrame({ ...view(), now: since }, { columns: 200, rows: 40 });
    expect(shown).toContain("last 4 s   10 requests/s, 25 % from cache, 5 to the origin, 0.25 errors");
    expect(topFrame(view(), { columns: 200, rows: 40 }).join()).not.toContain("last ");
  });

  test("says how many requests had to wait for a turn at the origin, if any", () => {
    const shown = (awaited: number, turnedAway: number) => {
      const waited = { ...stats, origin: { ...stats.origin, awaited, turnedAway } };
      return topFrame({ ...view(), stats: waited }, { columns: 200, rows: 40 }).join("\n");
    };
    expect(shown(12, 3)).toContain(", 12 waited for a turn, 3 got none; ");
    expect(shown(0, 0)).not.toContain("turn");
  });

  test("shows the machine instead of isolates if it is known", () => {
    const machine = { inWords: ["supervisor: 5 MB resident.", "\u001b[2J"] } as NonNullable<SiteStats["machine"]>;
    const shown = topFrame({ ...view(), stats: { ...stats, machine } }, { columns: 200, rows: 40 }).join("\n");
    expect(shown).toContain("supervisor: 5 MB resident.");
    expect(shown).toContain("\ufffd[2J");
    expect(shown).not.toContain("isolates");
  });

  test("says that there were no requests only if all isolates have reported", () => {
    const none = { ...stats, requests: 0 };
    const shown = (isCurrent?: true) =>
      topFrame({ ...view(), stats: { ...none, isCurrent } }, { columns: 200, rows: 40 }).join("\n");
    expect(shown(true)).toContain("Last 15 minutes: no requests.");
    expect(shown()).toContain("Last 15 minutes: no requests were reported. Isolates report once a minute.");
  });
});
