import { Agent } from "node:http";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedOrigin } from "../../local/cdn/scripted-origin.ts";
import { bundleWorker } from "../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { SiteStats } from "../../wire/stats.ts";
import type { Report } from "../../worker/metrics/reports.ts";
import { exchange } from "../engine/runtime/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";

// The types of the Workers runtime, which it needs, are not those of this project.
const { analyticsWriter } = (await import(new URL("../../worker/runtime/analytics.ts", import.meta.url).href)) as {
  analyticsWriter(
    dataset: { writeDataPoint(): void },
    warn: (line: string) => void,
  ): (report: Pick<Report, "pop" | "counts">) => void;
};

const origin = new ScriptedOrigin(() => Date.now());
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const logged: string[] = [];
/** What the platform says of a request that arrives in Frankfurt. */
const POP = JSON.stringify({ colo: "FRA" });
let script: string;
let edge: EdgeRuntime | undefined;

beforeAll(async () => {
  await origin.comeUp();
  script = await bundleWorker(fileURLToPath(new URL("./analytics.worker.ts", import.meta.url)));
});

afterAll(async () => {
  await edge?.stop();
  await origin.goDown();
});

/** Asks for a page, and lets the isolate report what it has counted. Returns the points that were written by then. */
async function pointsAfterReport(bound: "dataset" | "other" | "nothing"): Promise<unknown[]> {
  await edge?.stop();
  logged.length = 0;
  const variables = {
    TIDEMARK_ORIGIN: origin.url,
    TIDEMARK_HOSTS: HOST,
    TIDEMARK_TOKEN: TOKEN,
    DATASET: bound,
  };
  edge = await startEdgeRuntime({ script, variables }, { port: 0, onLine: (line) => logged.push(line) });
  origin.reply("/page", { fields: { "cache-control": "max-age=60" }, body: "page" });
  const get = (path: string) =>
    exchange(edge!.url, agent, { path, fields: { host: HOST, authorization: `Bearer ${TOKEN}`, "mf-cf-blob": POP } });
  expect(await get("/page")).toMatchObject({ status: 200 });
  // An isolate reports for the first time with its first read of the log or behind its first answer.
  let stats: Partial<SiteStats>;
  do stats = JSON.parse((await get("/_tidemark/stats")).body) as SiteStats;
  while (stats.isolates?.reported === 0);
  return JSON.parse((await get("/points")).body) as unknown[];
}

test("each report to the ledger is a data point of its PoP where the dataset is bound", async () => {
  const points = await pointsAfterReport("dataset");
  expect(points.length).toBeGreaterThan(0);
  for (const point of points) {
    expect(point).toEqual({ indexes: ["FRA"], blobs: ["FRA"], doubles: Array(6).fill(expect.any(Number)) });
  }
});

test("without the dataset nothing is written, and the isolate still reports", async () => {
  expect(await pointsAfterReport("nothing")).toEqual([]);
});

test("if something else is bound, the isolate still reports, and the log names the binding once", async () => {
  expect(await pointsAfterReport("other")).toEqual([]);
  await edge!.stop();
  edge = undefined;
  expect(logged.filter((line) => line.includes("TIDEMARK_ANALYTICS"))).toHaveLength(1);
});

test("a dataset that refuses every point keeps no report back, and is named once", () => {
  const lines: string[] = [];
  const refuse = () => {
    throw new TypeError("too many points");
  };
  const write = analyticsWriter({ writeDataPoint: refuse }, (line) => lines.push(line));
  for (const pop of ["FRA", "FRA", "SYD"]) write({ pop, counts: {} });
  expect(lines).toEqual(["TIDEMARK_ANALYTICS takes no data points: TypeError: too many points"]);
});
