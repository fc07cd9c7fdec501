import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleWorker, edgeEntry } from "../../local/runtime/bundle.ts";
import { startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import { ServerProcess } from "../server/serve/running-server.ts";
import { byDepth } from "../suite/depth.ts";
import { type Departure, notMet, notTaken, ofTheRuntime } from "./departures.ts";
import { fetchSuite, type Grade, runSuite, SuiteOrigin, type SuiteReport } from "./public-suite.ts";

/** The suite waits until responses are stale: some 20 s, and as long again for each time that tests are tried again. */
const SUITE_MS = 300_000;

const suite = await fetchSuite();
if (suite === null) process.stdout.write("the public suite of caches is SKIPPED: no registry has answered\n");

/** A cache in front of the suite's origin. */
interface RunningCache {
  readonly url: string;
  stop(): Promise<unknown>;
}

/**
 * What a site may want that takes from a cache what HTTP lets it have. The suite numbers and names its requests, and its
 * origin needs the numbers, so these fields must not keep answers from being stored, errors neither; nor may those with
 * which the suite keeps `fetch` from adding its own, and those that it makes up. Its pages are in German.
 */
const SITE = {
  secondLook: false,
  fields: { trustForErrors: ["test-id", "test-name", "req-num", "foo", "other", "pragma", "cache-control"] },
  heuristic: {},
  stale: { ifDisconnected: "1h" },
  // The suite's origin hangs up on purpose, for one path after the other.
  limits: { originDownAfter: 0 },
  routes: [{ match: "/*", key: { languages: ["de"] } }],
};

const HOSTS = { TIDEMARK_HOSTS: "*" };

function writeConfig(folder: string, origin: string): string {
  const config = join(folder, "tidemark.config.ts");
  writeFileSync(config, `export default ${JSON.stringify({ ...SITE, origin })};\n`);
  return config;
}

/** One worker: another one has a page a moment after it was answered, and many tests do not wait for that. */
async function startServer(folder: string, origin: string, ...flags: readonly string[]): Promise<RunningCache> {
  writeConfig(folder, origin);
  const server = new ServerProcess(folder, ["--listen", "127.0.0.1:0", "--workers", "1", ...flags], HOSTS);
  try {
    const { origin: url } = await server.address();
    return { url, stop: () => server.stop() };
  } catch (cause) {
    await server.stop();
    throw cause;
  }
}

async function startWorker(folder: string, origin: string): Promise<RunningCache> {
  const script = await bundleWorker(edgeEntry(writeConfig(folder, origin)));
  const edge = await startEdgeRuntime({ script, variables: HOSTS }, { port: 0 });
  return { url: edge.url.origin, stop: () => edge.stop() };
}

interface Platform {
  readonly name: string;
  readonly runs: boolean;
  readonly departures: readonly Departure[];
  start(folder: string, origin: string): Promise<RunningCache>;
}

const ALL = byDepth({ test: false, gate: false, all: true });

const PLATFORMS: readonly Platform[] = [
  { name: "tidemark serve", runs: true, departures: [], start: startServer },
  {
    name: "tidemark serve, the plain way",
    runs: ALL,
    departures: [],
    start: (folder, origin) => startServer(folder, origin, "--no-fast-hits"),
  },
  { name: "the Workers runtime", runs: ALL, departures: ofTheRuntime, start: startWorker },
];

/** Checks stay out: they only ask how a cache behaves. */
const KINDS = [
  ["required", "every requirement is met, but for those that are the suite's alone"],
  ["optimal", "what a cache may do is done, but for what is left out on purpose"],
] as const;

describe.each(PLATFORMS.filter(({ runs }) => runs))("the public suite of caches, against $name", (platform) => {
  const departures = [...notMet, ...notTaken, ...platform.departures];
  const expected = new Map(departures.flatMap(({ grade, tests }) => tests.map((id): [string, Grade] => [id, grade])));
  let report: SuiteReport;

  beforeAll(async () => {
    if (suite === null) return;
    const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    await using origin = await SuiteOrigin.start(suite);
    const cache = await platform.start(folder, origin.url);
    try {
      report = await runSuite(suite, cache.url, ({ id, kind }, grade) => {
        return kind === "check" || grade === (expected.get(id) ?? "met");
      });
    } finally {
      await cache.stop();
      rmSync(folder, { recursive: true });
    }
  }, SUITE_MS);

  test.skipIf(suite === null).each(KINDS)("%s tests: %s", (kind) => {
    const grades = report.grades(kind);
    expect(grades.size).toBeGreaterThan(90);
    const others = [...grades].filter(([, grade]) => grade !== "met");
    const words = others.map(([id]) => `${id}: ${report.wordsOn(id)}`).join("\n");
    expect(Object.fromEntries(others), words).toEqual(
      Object.fromEntries([...expected].filter(([id]) => grades.has(id))),
    );
  });
});
