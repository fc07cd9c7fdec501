import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProblemCode } from "../../wire/problem.ts";
import type { SiteStats } from "../../wire/stats.ts";
import { machineLines } from "../../wire/text/machine-text.ts";
import { memoryLines, statsLines } from "../../wire/text/stats-text.ts";
import { memoryVerdicts } from "../../wire/verdicts/memory.ts";
import { statsOfTenRequests } from "../metrics/replay.ts";
import { refuses } from "../sdk/fake-edge.ts";
import { listenLocally, localUrl } from "../suite/local-url.ts";
import { startTidemark, tidemark } from "./run-command.ts";

let stats: SiteStats;
let answer: { status: number; body: string; mediaType?: string } = { status: 200, body: "" };
const asked: string[] = [];
const edge = createServer((request, response) => {
  asked.push(`${request.url} ${request.headers.authorization}`);
  const { status, mediaType = "application/json", body } = answer;
  response.writeHead(status, { "content-type": mediaType }).end(body);
});

beforeAll(async () => {
  stats = await statsOfTenRequests();
  await listenLocally(edge);
});

afterAll(() => void edge.close());

async function run(args: readonly string[], env: Record<string, string> = {}, start = tidemark) {
  const settings = { TIDEMARK_ENDPOINT: localUrl(edge), TIDEMARK_TOKEN: "a-token", ...env };
  return start({ args: ["stats", ...args], env: settings });
}

describe("in words", () => {
  const big = (): SiteStats => ({
    ...stats,
    requests: 1_204_331,
    answers: { HIT: 1_121_232, MISS: 83_099 },
    waits: { count: 2, meanMs: 20, p50Ms: 11.2, p95Ms: 250, p99Ms: 700 },
    fromCache: 1_121_232,
    origin: { asked: 83_200, answered: 83_199, failed: 1, awaited: 0, turnedAway: 0 },
    bytes: { fromCache: 41_300_000_000, fromOrigin: 2_500_000, unmeasuredBodies: 0 },
    times: {
      origin: { count: 2, meanMs: 250, p50Ms: 240.4, p95Ms: 800, p99Ms: 1200 },
      shared: { count: 2, meanMs: 11, p50Ms: 11.2, p95Ms: 30, p99Ms: 44 },
    },
    store: { ...stats.store, refused: { "no-store": 1200, "bad\u001b[2J": 3 }, discarded: { "cut-off": 9 }, failed: 2 },
    isolates: { ...stats.isolates, reported: 1200, silent: 3, heardShare: 0.99996 },
  });

  test("a busy day", () => {
    expect(
      statsLines(big(), "24h").join("\n"),
    ).toBe(`Last 24 h: 1,204,331 requests, 93.1 % from cache. The origin was asked 83,200 times instead of 1,204,331, and failed once; visitors waited 11 ms instead of 240 ms in the median; the cache sent 41.3 GB, the origin 2.5 MB.
Median time to the response head: the origin 240 ms (95 %: 800 ms, 99 %: 1200 ms); the cache of the PoP 11 ms (95 %: 30 ms, 99 %: 44 ms). Hits in memory were not measured.
A memory of 32 MiB held 60 % of the stored pages that visitors requested. Without purges and restarts, sizes hold at least: 8 MiB 60 %, 16 MiB 60 %, 32 MiB 60 %, 64 MiB 60 %, 128 MiB 60 %, 256 MiB 60 %.
Not stored: no-store 1,200, cut-off 9, bad\ufffd[2J 3, store-failed 2.
1,200 isolates reported; 3 have stopped reporting. The reports cover at least 99.9 % of their time.`);
  });

  test("bytes of which some were not measured, as a bound", () => {
    const bytes = { fromCache: 0, fromOrigin: 2_500_000, unmeasuredBodies: 1_070 };
    expect(statsLines({ ...big(), bytes }, "24h")[0]).toMatch(
      /, the origin at least 2.5 MB \(bodies not measured: 1,070\)\.$/,
    );
  });

  test("the memory of a machine is that of all its workers together, which is --memory", () => {
    const MIB = 1024 ** 2;
    const memory = { uses: 2000, held: 600, maxBytes: 64 * MIB, curve: [{ bytes: 128 * MIB, hitRatio: 0.9 }] };
    const machine = { memory: { bytes: 0, maxBytes: 256 * MIB }, inWords: [] } as unknown as NonNullable<
      SiteStats["machine"]
    >;
    const found = { ...big(), memory, machine };
    expect(memoryLines(found)[0]).toBe(
      "A memory of 256 MiB held 30 % of the stored pages that visitors requested. Without purges and restarts, sizes hold at least: 512 MiB 90 %.",
    );
    expect(memoryVerdicts(found)).toMatchObject([
      { evidence: expect.stringContaining("a memory of 256 MiB"), setting: 'set `--memory` to `"512MiB"`' },
    ]);
  });

  test("of an isolate's memory no more is advised than it can have beside all else that an isolate needs", () => {
    const MIB = 1024 ** 2;
    const advised = (...sizes: readonly (readonly [number, number])[]) => {
      const curve = sizes.map(([size, hitRatio]) => ({ bytes: size * MIB, hitRatio }));
      const memory = { uses: 2000, held: 600, maxBytes: 32 * MIB, curve };
      return memoryVerdicts({ ...big(), memory }).map(({ setting, effect }) => `${setting}; ${effect}`);
    };
    expect(advised([32, 0.3], [64, 0.5], [128, 0.9], [256, 0.99])).toEqual([
      'set `limits.memoryBytes` to `"64MiB"`; at least 50 % would come from memory',
    ]);
    expect(advised([32, 0.3], [64, 0.31], [128, 0.9])).toEqual([]);
    expect(advised([128, 0.9])).toEqual([]);
  });

  test("errors have their share and their statuses", () => {
    const statuses = { 200: 17, 304: 1, 400: 3, 502: 1, "(others)": 1 };
    expect(statsLines({ ...big(), requests: 22, statuses }, "1h")).toContain(
      "Errors: 4, 18.2 % of all answers (400 3, 502 1).",
    );
    expect(statsLines({ ...big(), statuses: { 200: 5, 399: 1 } }, "1h").join()).not.toContain("Errors");
  });

  test("the bytes that deltas saved", () => {
    const deltas = { sent: 1200, bytes: 90_000, savedBytes: 99_910_000 };
    expect(statsLines({ ...big(), deltas }, "1h")[0]).toMatch(
      /, the origin 2\.5 MB\. 1,200 answers carried only the changes since the visitor's version: 90 kB instead of 100 MB\.$/,
    );
  });

  test("requests that had to wait for a turn at the origin", () => {
    const found = (awaited: number, turnedAway: number) => {
      const queue = { awaited: { known: 200, other: awaited - 200 }, turnedAway: { editor: 0, other: turnedAway } };
      return statsLines({ ...big(), queue, origin: { ...big().origin, awaited, turnedAway } }, "1h").join("\n");
    };
    expect(found(1200, 3)).toContain(
      "1,200 requests (known 200, others 1,000) had to wait for a turn at the origin; 3 (others 3) got none.",
    );
    expect(found(200, 1)).toContain(
      "200 requests (known 200) had to wait for a turn at the origin; 1 (others 1) got none.",
    );
    expect(found(0, 0)).not.toContain("turn");
  });

  test("a machine and its processes, with what its workers have", () => {
    const MIB = 1024 ** 2;
    const process = { pid: 7, isDraining: false, residentBytes: 81 * MIB, openFiles: 20, maxOpenFiles: 1024 };
    const memory = { entries: 1200, bytes: 60 * MIB, maxBytes: 64 * MIB, evictions: 34 };
    const worker = { connections: 300, maxConnections: 20_000, memory, origin: null };
    const figures = {
      name: "edge-1\u001b",
      memory: { bytes: 60 * MIB, maxBytes: 128 * MIB },
      disk: { usedBytes: 2560 * MIB, maxBytes: 9216 * MIB, freeBytes: 30_720 * MIB, files: 9, evictions: 0 },
      origin: null,
      processes: [
        { ...process, name: "supervisor", worker: null },
        { ...process, name: "worker-3", isDraining: true, worker },
        { ...process, name: "worker-4", openFiles: null, worker },
      ],
      log: { isWritable: true, freeBytes: 30e9 },
      workerDeaths: 0,
      certificates: [{ file: "/etc/site.crt", names: [], expiresAt: "2026-03-01T00:00:00.000Z" }],
    };
    const lines = [
      "On edge-1\ufffd, pages take 60 MiB of the 128 MiB of --memory, and 2.5 GiB of the 9 GiB of --disk for pages, where 30 GiB are free.",
      "supervisor: 81 MiB resident, 20 of 1,024 files open.",
      "worker-3 (ends): 81 MiB resident, 20 of 1,024 files open, 300 of 20,000 connections, 1,200 pages, 34 evicted.",
      "worker-4: 81 MiB resident, 300 of 20,000 connections, 1,200 pages, 34 evicted.",
      "/etc/site.crt expires at 2026-03-01T00:00:00.000Z.",
    ];
    expect(machineLines(figures)).toEqual(lines);
    const machine = { ...figures, inWords: [...lines, "\u001b[2J"] };
    lines.push("\ufffd[2J");
    expect(statsLines({ ...big(), isCurrent: true, machine }, "1h").slice(-6)).toEqual(lines);
    expect(statsLines({ ...big(), machine }, "1h").at(-7)).toMatch(/ isolates reported; /);
    expect(statsLines({ ...big(), isCurrent: true, machine }, "1h").join()).not.toContain("Heard of");
    expect(statsLines({ ...big(), requests: 0, isCurrent: true, machine }, "1h").slice(1)).toEqual(lines);
    const queue = { running: 32, concurrency: 32, waiting: 0, maxWaiting: 1024, longestWaitMs: 0 };
    expect(machineLines({ ...figures, origin: queue })[1]).toBe(
      "32 of 32 requests are at the origin; 0 of 1,024 wait for their turn.",
    );
    expect(machineLines({ ...figures, disk: null })[0]).toBe(
      "On edge-1\ufffd, pages take 60 MiB of the 128 MiB of --memory, and no disk.",
    );
  });

  test("what isolates had counted that died is missing, even if all others have just reported", () => {
    const current = (silent: number) => {
      return statsLines({ ...big(), isCurrent: true, isolates: { ...big().isolates, silent } }, "1h").join("\n");
    };
    expect(current(1)).toContain(
      "1,200 isolates reported; 1 has stopped reporting. The reports cover at least 99.9 % of",
    );
    expect(current(0)).not.toContain("reported");
  });

  test("a quiet hour of one PoP", () => {
    const none = { ...big(), requests: 0, pop: "FRA" };
    expect(statsLines(none, "1h")).toEqual([
      "Last 1 h in FRA: no requests were reported. Isolates report once a minute.",
    ]);
    expect(statsLines({ ...none, isCurrent: true }, "1h")).toEqual(["Last 1 h in FRA: no requests."]);
  });

  test("a time without reports is not reported as a time without requests", () => {
    const { isolates } = stats;
    const none = { ...big(), requests: 0, isolates: { ...isolates, reported: 0, alive: 0 } };
    expect(statsLines(none, "1h")).toEqual([
      "Last 1 h: no isolate has reported yet. Each isolate reports once a minute.",
    ]);
  });

  test("memories of gigabytes, to the mebibyte", () => {
    const GIB = 1024 ** 3;
    const curve = [4 * GIB, 8.5 * 1024 ** 2].map((bytes) => ({ bytes, hitRatio: 0.5 }));
    expect(memoryLines({ ...big(), memory: { uses: 2, held: 1, maxBytes: 2 * GIB, curve } })[0]).toMatch(
      /^A memory of 2048 MiB held 50 % .*: 4096 MiB 50 %, 8\.5 MiB 50 %\.$/,
    );
  });

  test("the edge's own answers have their share and reasons", () => {
    const own = { "origin-unreachable": 2, "host-unknown": 2, "bad\u001b[2J": 1 };
    const some = { ...big(), requests: 22, fromCache: 5, answers: { MISS: 12, HIT: 5 }, answeredByEdge: own };
    expect(statsLines(some, "1h")).toContain(
      "Answered by the edge itself: 22.7 % (origin-unreachable 2, host-unknown 2, bad\ufffd[2J 1).",
    );
    expect(statsLines(big(), "1h").join()).not.toContain("itself");
  });

  test("nearly all is not 100 %", () => {
    expect(statsLines({ ...big(), requests: 1_000_000, fromCache: 999_999 }, "7d")[0]).toMatch(
      /^Last 7 days: 1,000,000 requests, 99\.9 % from cache\. /,
    );
  });
});

test("the numbers are those of the ledger, even in a separate process", async () => {
  answer = { status: 200, body: JSON.stringify(stats) };
  const said = await run(["--last", "2h"]);
  expect(said).toMatchObject({ exit: 0, stderr: "" });
  expect(said.stdout).toContain("Last 2 h: 10 requests, 60 % from cache. The origin was asked 4 times instead of 10; ");
  expect(asked.at(-1)).toBe("/_tidemark/stats?last=2h Bearer a-token");
  const json = await run(["--json", "--pop", "fra"], {}, startTidemark);
  expect(JSON.parse(json.stdout)).toEqual(stats);
  expect(asked.at(-1)).toBe("/_tidemark/stats?last=24h&pop=fra Bearer a-token");
});

test("stats that lack something are printed as they came", async () => {
  const body = JSON.stringify({ version: 1, scope: "site", requests: 1 });
  answer = { status: 200, body };
  expect(await run(["--json"])).toMatchObject({ exit: 0, stdout: `${body}\n`, stderr: "" });
});

function problem(code: ProblemCode, more: object = {}) {
  const { status, json } = refuses(code, more);
  return { status: status!, body: JSON.stringify(json) };
}

test.each([
  {
    name: "a refusal is said",
    answer: problem("unauthorized"),
    args: [],
    exit: 1,
    says: "does not know the token (401). Set TIDEMARK_TOKEN (or, in code, the option token) to a token",
  },
  {
    name: "a refusal that says what is wrong is said",
    answer: problem("invalid", { errors: [{ path: "last", message: "must be at most 90 days" }] }),
    args: ["--last", "91d"],
    exit: 1,
    says: "last: must be at most 90 days",
  },
  {
    name: "a page instead of stats is not an answer of an edge",
    answer: { status: 200, body: "<html>", mediaType: "text/html" },
    args: [],
    exit: 3,
    says: "with text/html, which is not an answer of a Tidemark edge",
  },
  {
    name: "stats that lack something are named with what they lack",
    answer: { status: 200, body: JSON.stringify({ version: 1, scope: "site", requests: 1 }) },
    args: [],
    exit: 3,
    says: "answered with stats that are not complete, from answers on",
  },
  {
    name: "a page that is not found is not an answer of an edge",
    answer: { status: 404, body: "<html>", mediaType: "text/html" },
    args: [],
    exit: 3,
    says: "with text/html, which is not an answer of a Tidemark edge",
  },
  {
    name: "a log that does not answer counts as unreachable",
    answer: { status: 503, body: '{"detail":"silent"}' },
    args: [],
    exit: 3,
    says: "cannot answer at the moment (503; 1 attempt)",
  },
  {
    name: "an invalid time is wrong usage",
    answer: { status: 200, body: "" },
    args: ["--last", "soon"],
    exit: 2,
    says: "15m",
  },
  {
    name: "a PoP without a name is wrong usage",
    answer: { status: 200, body: "" },
    args: ["--pop", ""],
    exit: 2,
    says: "It must be the name of a PoP, like FRA.",
  },
  {
    name: "no token is wrong usage",
    answer: { status: 200, body: "" },
    args: [],
    env: { TIDEMARK_TOKEN: "" },
    exit: 2,
    says: "TIDEMARK_TOKEN",
  },
  {
    name: "a token that cannot be sent is not printed",
    answer: { status: 200, body: "" },
    args: [],
    env: { TIDEMARK_TOKEN: "secret\u0001" },
    exit: 2,
    says: "TIDEMARK_TOKEN",
  },
  {
    name: "no endpoint is wrong usage",
    answer: { status: 200, body: "" },
    args: [],
    env: { TIDEMARK_ENDPOINT: "" },
    exit: 2,
    says: "TIDEMARK_ENDPOINT",
  },
  {
    name: "an edge that is down is said",
    answer: { status: 200, body: "" },
    args: ["--endpoint", "http://127.0.0.1:1"],
    exit: 3,
    says: "No connection to http://127.0.0.1:1",
  },
])("$name", async ({ answer: given, args, env = {}, exit, says }) => {
  answer = given;
  const said = await run(args, env);
  expect({ exit: said.exit, stdout: said.stdout }).toEqual({ exit, stdout: "" });
  expect(said.stderr).toContain(says);
  for (const secret of ["a-token", "secret"]) expect(said.stderr).not.toContain(secret);
});
