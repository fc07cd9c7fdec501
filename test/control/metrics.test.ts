import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import type { SiteStats } from "../../wire/stats.ts";
import { metricsText } from "../../worker/control/stats/metrics.ts";
import { Replay } from "../metrics/replay.ts";
import { depth } from "../suite/depth.ts";
import { freePort } from "../suite/free-ports.ts";
import { listenLocally } from "../suite/local-url.ts";

const OPEN = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";

let text = "";
let open = "";
let stats: SiteStats;

beforeAll(async () => {
  const replay = new Replay(7);
  for (let sent = 0; sent < 300; sent++) {
    await replay.send(
      sent % 3 === 0 ? "fra/0" : "syd/0",
      `${["/pages/", "/no-store/", "/down/"][sent % 7] ?? "/api/"}${sent % 20}`,
    );
    replay.now += 700;
  }
  await replay.reportAll();
  const plain = await replay.metrics("*/*");
  expect(plain.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  text = await plain.text();
  const opened = await replay.metrics(OPEN);
  expect(opened.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
  expect(opened.headers.get("vary")).toBe("accept");
  open = await opened.text();
  stats = await replay.stats("?last=90d");
});

/** The sum of the samples of a name that have all these labels. */
function sumOf(body: string, name: string, ...labels: string[]): number {
  const lines = body.split("\n").filter((line) => new RegExp(`^${name}[{ ]`).test(line));
  return lines
    .filter((line) => labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

test("the numbers are those of the stats", () => {
  for (const body of [text, open]) {
    for (const [outcome, count] of Object.entries(stats.answers)) {
      expect({ outcome, count: sumOf(body, "tidemark_requests_total", `outcome="${outcome}"`) }).toEqual({
        outcome,
        count,
      });
    }
    for (const [status, count] of Object.entries(stats.statuses)) {
      const onRoutes = Object.values(stats.routes).reduce((sum, { statuses }) => sum + (statuses[status] ?? 0), 0);
      expect({
        count: sumOf(body, "tidemark_responses_total", `status="${status}"`),
        onRoutes: sumOf(body, "tidemark_route_responses_total", `status="${status}"`),
      }).toEqual({ count, onRoutes });
    }
    expect(stats.statuses[502]).toBeGreaterThan(0);
    expect(sumOf(body, "tidemark_origin_requests_total")).toBe(stats.origin.asked);
    expect(sumOf(body, "tidemark_origin_failures_total")).toBe(stats.origin.failed);
    expect(sumOf(body, "tidemark_cache_response_bytes_total", 'pop="fra"')).toBe(stats.pops.fra!.bytes.fromCache);
    expect(sumOf(body, "tidemark_time_to_head_seconds_count", 'tier="origin"')).toBe(stats.times.origin!.count);
    expect(sumOf(body, "tidemark_time_to_head_seconds_bucket", 'tier="origin"', 'le="+Inf"')).toBe(
      stats.times.origin!.count,
    );
  }
});

test("a client's waits and refusals are there as 0 before the first one, so that Prometheus sees its increase", () => {
  expect(stats.queue.turnedAway.known ?? 0).toBe(0);
  for (const name of ["tidemark_origin_waits_total", "tidemark_origin_refusals_total"]) {
    expect(text).toContain(`${name}{pop="fra",client="known"} 0\n`);
  }
});

test("OpenMetrics ends with its mark, and names units and counters as its document says", () => {
  expect(open.endsWith("\n# EOF\n")).toBe(true);
  expect(open).toContain("# TYPE tidemark_requests counter\n");
  expect(open).toContain("# UNIT tidemark_time_to_head_seconds seconds\n");
  expect(text).toContain("# TYPE tidemark_requests_total counter\n");
  expect(text).not.toMatch(/EOF|UNIT/);
});

test("buckets never fall from one to the next", () => {
  const buckets = text.split("\n").filter((line) => line.startsWith("tidemark_time_to_head_seconds_bucket"));
  const series = Map.groupBy(buckets, (line) => line.replace(/,?le="[^"]*"/, "").split(" ")[0]!);
  for (const lines of series.values()) {
    const counts = lines.map((line) => Number(line.split(" ").at(-1)));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  }
});

test("names that visitors choose are escaped", () => {
  const isolates = {
    reported: 1,
    silent: 0,
    alive: 1,
    memoryBytes: 0,
    memoryMaxBytes: 0,
    heardMs: 0,
    unheardMs: 0,
    heardShare: 1,
  };
  const pops = { 'a"\\\n} 1\nevil 2': { purges: 1 } };
  const body = metricsText(
    { from: 0, to: 0, spanMs: 0, spans: [], isolates, counts: {}, routes: {}, top: null, pops },
    false,
  );
  expect(body).toContain('tidemark_purges_total{pop="a\\"\\\\\\n} 1\\nevil 2"} 1\n');
  expect(body).not.toMatch(/^evil/m);
});

const isInstalled = (program: string) => spawnSync(program, ["--version"]).status === 0;

describe("Prometheus itself", () => {
  // From Debian's package prometheus: `apt-get install prometheus`.
  test.skipIf(!isInstalled("promtool"))("promtool accepts the metrics (skipped if it is not installed)", () => {
    const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: "", stdout: "" });
  });

  test.skipIf(depth === "test" || !isInstalled("prometheus"))(
    "scrapes both formats (skipped if it is not installed, or if the depth is that of npm test)",
    { tags: ["deep"], timeout: 90_000 },
    async () => {
      const accepts: string[] = [];
      const edge = createServer((request, response) => {
        accepts.push(request.headers.accept ?? "");
        const isOpen = request.url === "/open";
        response.setHeader(
          "content-type",
          isOpen ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4",
        );
        response.end(isOpen ? open : text);
      });
      const folder = mkdtempSync(join(tmpdir(), "tidemark-prometheus-"));
      await listenLocally(edge);
      const { port } = edge.address() as AddressInfo;
      const own = await freePort();
      const jobs = ["text", "open"].map((name) => ({
        job_name: name,
        metrics_path: `/${name}`,
        scrape_interval: "1s",
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      }));
      writeFileSync(join(folder, "prometheus.yml"), JSON.stringify({ scrape_configs: jobs }));
      const prometheus = spawn(
        "prometheus",
        [
          `--config.file=${folder}/prometheus.yml`,
          `--storage.tsdb.path=${folder}/data`,
          `--web.listen-address=127.0.0.1:${own}`,
        ],
        { stdio: "ignore" },
      );
      try {
        const ask = async (query: string): Promise<Record<string, number>> => {
          const answer = await fetch(`http://127.0.0.1:${own}/api/v1/query?query=${encodeURIComponent(query)}`);
          const { data } = (await answer.json()) as {
            data: { result: { metric: { job: string }; value: [number, string] }[] };
          };
          return Object.fromEntries(data.result.map(({ metric, value }) => [metric.job, Number(value[1])]));
        };
        const both = (value: number) => ({ text: value, open: value });
        await vi.waitFor(async () => expect(await ask("up")).toEqual(both(1)), { timeout: 60_000, interval: 200 });
        const requests = Object.values(stats.answers).reduce((sum, count) => sum + count, 0);
        expect(await ask("sum by (job) (tidemark_requests_total)")).toEqual(both(requests));
        expect(await ask('sum by (job) (tidemark_time_to_head_seconds_count{tier="origin"})')).toEqual(
          both(stats.times.origin!.count),
        );
        const p95 = "histogram_quantile(0.95, sum by (job, le) (tidemark_time_to_head_seconds_bucket))";
        expect(Object.values(await ask(p95)).every((seconds) => seconds > 0 && seconds < 1)).toBe(true);
        expect(accepts.every((accept) => accept.includes("application/openmetrics-text"))).toBe(true);
      } finally {
        const ended = once(prometheus, "close");
        prometheus.kill();
        await ended;
        edge.closeAllConnections();
        edge.close();
        rmSync(folder, { recursive: true });
      }
    },
  );
});
