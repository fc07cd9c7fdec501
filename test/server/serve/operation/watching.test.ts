import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProcessStats } from "../../../../wire/machine-stats.ts";
import { machineStatsSchema } from "../../../../wire/machine-stats-schema.ts";
import { siteStatsSchema } from "../../../../wire/site-stats-schema.ts";
import type { SiteStats } from "../../../../wire/stats.ts";
import { statsLines } from "../../../../wire/text/stats-text.ts";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { until } from "../../../suite/until.ts";
import { makeCertificate } from "../../connections/make-certificate.ts";
import { ServerProcess } from "../running-server.ts";
import {
  ALERT_TESTS,
  ALERTS,
  BOARD,
  boardAsRules,
  metricsExposed,
  metricsNamedIn,
  promtool,
} from "./prometheus-files.ts";

const hasPromtool = promtool(["--version"]) !== null;
const NOT_RUN = "the alerts of docs/prometheus are SKIPPED, because this machine has no promtool (Debian: prometheus)";
if (!hasPromtool) process.stdout.write(`${NOT_RUN}\n`);

const TOKEN = "a-token-for-a-test-that-watches-a-server";
const MEMORY_BYTES = 4 * 1024 ** 2;
const PAGE_BYTES = 100_000;

describe("a server that somebody watches", { timeout: 60_000 }, () => {
  let origin: Server;
  let folder: string;
  let server: ServerProcess;
  let address: URL;
  let sent = 0;
  let refused = 0;

  beforeAll(async () => {
    origin = createServer((request, response) => {
      response.statusCode = request.url === "/gone" ? 410 : 200;
      response.setHeader("cache-control", "max-age=600").end("p".repeat(PAGE_BYTES));
    });
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const { chain, key } = makeCertificate(["www.example.test"]);
    writeFileSync(join(folder, "site.crt"), chain);
    writeFileSync(join(folder, "site.key"), key);
    const tls = ["--listen-tls", "127.0.0.1:0", "--tls-cert", "site.crt", "--tls-key", "site.key"];
    const site = ["--origin", localUrl(origin), "--listen", "127.0.0.1:0", "--workers", "2", "--memory", "4MiB"];
    server = new ServerProcess(folder, [...site, ...tls], { TIDEMARK_HOSTS: "*", TIDEMARK_TOKEN: TOKEN });
    address = await server.address();
    await server.prints(/worker-2 .*accepts/);
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    origin.close();
    rmSync(folder, { recursive: true });
  });

  /** Each on a connection of its own, so that all workers have a part of them. */
  const visit = async (path: string) => {
    const answer = await fetch(new URL(path, address), { headers: { connection: "close" } });
    await answer.arrayBuffer();
    sent++;
    if (answer.status === 410) refused++;
  };
  const ask = (path: string) =>
    fetch(new URL(`/_tidemark/${path}`, address), {
      headers: { authorization: `Bearer ${TOKEN}`, connection: "close" },
    });
  const stats = async () => (await (await ask("stats?last=15m")).json()) as SiteStats;
  const workers = ({ machine }: SiteStats) => machine!.processes.flatMap(({ worker }) => (worker ? [worker] : []));
  const names = ({ machine }: SiteStats) => machine!.processes.map(({ name }) => name);

  test("has every request in its stats at once, with its status, under the name of the machine", {
    tags: ["deep"],
  }, async () => {
    for (let page = 0; page < 30; page++) await visit(`/page?number=${page % 10}`);
    for (let turn = 0; turn < 3; turn++) await visit("/gone");
    const found = await stats();
    expect(found).toMatchObject({ isCurrent: true, requests: sent, statuses: { 200: sent - refused, 410: refused } });
    expect(Object.keys(found.pops)).toEqual([hostname()]);
    expect(siteStatsSchema.safeParse(found).error).toBeUndefined();
    // Again, and each time, though nobody has waited for a minute.
    await visit("/gone");
    expect(await stats()).toMatchObject({ requests: sent, statuses: { 410: refused } });
    expect((await (await ask("metrics")).text()).match(/tidemark_responses_total{.*status="410"} (\d+)/)?.[1]).toBe(
      String(refused),
    );
  });

  test("says how its processes, its memory and its disk are, and the same to monitors", async () => {
    for (let page = 0; page < 80; page++) await visit(`/page?number=${page}`); // 8 MB
    const found = await stats();
    const { machine } = found;
    expect(machineStatsSchema.safeParse(machine).error).toBeUndefined();
    expect(names(found)).toEqual(["supervisor", "worker-1", "worker-2"]);
    const [supervisor, ...rest] = machine!.processes as [ProcessStats, ...ProcessStats[]];
    expect(supervisor).toMatchObject({ pid: server.pid, worker: null });
    for (const each of machine!.processes) {
      expect(each.residentBytes).toBeGreaterThan(10_000_000);
      expect(each.openFiles).toBeGreaterThan(5);
      expect(each.openFiles).toBeLessThan(each.maxOpenFiles!);
    }
    expect(new Set(rest.map(({ pid }) => pid)).size).toBe(2);
    expect(workers(found).reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThan(0);
    // Half of --memory for each, which a part of these pages had to leave.
    expect(machine!.memory.maxBytes).toBe(MEMORY_BYTES);
    expect(machine!.memory.bytes).toBe(workers(found).reduce((sum, { memory }) => sum + memory.bytes, 0));
    expect(machine!.memory.bytes).toBeGreaterThan(PAGE_BYTES);
    for (const { memory } of workers(found)) expect(memory.maxBytes).toBe(MEMORY_BYTES / 2);
    expect(workers(found).reduce((sum, { memory }) => sum + memory.evictions, 0)).toBeGreaterThan(0);
    expect(machine!.disk!.usedBytes).toBeGreaterThan(PAGE_BYTES);
    expect(machine!.disk!.freeBytes).toBeGreaterThan(0);

    const text = await (await ask("metrics")).text();
    const value = (name: string) => Number(new RegExp(`^tidemark_${name} (\\S+)$`, "m").exec(text)?.[1]);
    expect(value("machine_page_limit_bytes")).toBe(MEMORY_BYTES);
    expect(value("disk_limit_bytes")).toBe(machine!.disk!.maxBytes);
    expect(value("worker_deaths_total")).toBe(0);
    expect(value('process_connections_limit{process="worker-2"}')).toBe(workers(found)[1]!.maxConnections);
    expect(value('process_resident_memory_bytes{process="supervisor"}')).toBeGreaterThan(10_000_000);
    expect(text).not.toContain('connections{process="supervisor"}');
    const start = value('certificate_start_timestamp_seconds{file="site.crt"}');
    expect(new Date(start * 1000).toISOString()).toBe(machine!.certificates[0]!.startsAt);
    const expiry = value('certificate_expiry_timestamp_seconds{file="site.crt"}');
    expect(new Date(expiry * 1000).toISOString()).toBe(machine!.certificates[0]!.expiresAt);
    expect(machine!.certificates).toMatchObject([{ file: "site.crt", names: ["www.example.test"] }]);
  });

  test("gives monitors every metric that the alerts and the board in docs/prometheus name", async () => {
    const exposed = metricsExposed(await (await ask("metrics")).text());
    for (const file of [ALERTS, ALERT_TESTS, BOARD]) {
      const named = metricsNamedIn(file);
      expect(named.length).toBeGreaterThan(8);
      expect({ file, missing: named.filter((name) => !exposed.has(name)) }).toEqual({ file, missing: [] });
    }
  });

  test.skipIf(!hasPromtool)(
    hasPromtool ? "has metrics, alerts and a board that Prometheus reads" : NOT_RUN,
    async () => {
      const text = await (await ask("metrics")).text();
      expect(promtool(["check", "metrics"], text)).toEqual({ status: 0, said: "" });
      expect(promtool(["check", "rules", ALERTS])).toMatchObject({ status: 0 });
      expect(promtool(["check", "config", "--syntax-only", "prometheus.yml"])).toMatchObject({ status: 0 });
      const board = boardAsRules();
      const read = promtool(["check", "rules", board.file]);
      board.remove();
      expect(read).toMatchObject({ status: 0, said: expect.stringContaining(`${board.count} rules found`) });
    },
  );

  test("answers without a worker that hangs, and does not say that it knows everything", {
    tags: ["deep"],
  }, async () => {
    const { machine } = await stats();
    const { pid, name } = machine!.processes.at(-1)!;
    process.kill(pid, "SIGSTOP");
    try {
      const found = await stats();
      expect(found.isCurrent).toBeUndefined();
      expect(names(found)).not.toContain(name);
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await until(async () => (await stats()).isCurrent === true);
    expect(names(await stats())).toContain(name);
  });

  test("knows what a worker counted that has been replaced", { tags: ["deep"] }, async () => {
    await visit("/gone");
    await stats();
    server.signal("SIGHUP");
    await server.prints(/new settings are in use/);
    await until(async () => names(await stats()).join() === "supervisor,worker-3,worker-4");
    expect(await stats()).toMatchObject({ isCurrent: true, requests: sent, statuses: { 410: refused } });
  });

  test("says that a worker died with what it had counted, and does not take it for alive", {
    tags: ["deep"],
  }, async () => {
    // The last reports of the workers that were replaced before this may still be on their way.
    await until(async () => {
      const { alive, silent } = (await stats()).isolates;
      return alive === 2 && silent === 0;
    });
    const { machine, isolates } = await stats();
    const { memoryMaxBytes } = isolates;
    const { pid, name } = machine!.processes.at(-1)!;
    expect(machine!.workerDeaths).toBe(0); // though a reload has replaced two
    process.kill(pid, "SIGKILL");
    await until(async () => names(await stats()).length === 3 && !names(await stats()).includes(name));
    const after = await stats();
    expect(after).toMatchObject({ isCurrent: true, isolates: { alive: 2, silent: 1, memoryMaxBytes } });
    expect(statsLines(after, "15m").join("\n")).toContain(" isolates reported; 1 has stopped reporting.");
    const metrics = await (await ask("metrics")).text();
    expect(metrics).toMatch(/^tidemark_silent_isolates 1$/m);
    expect(metrics).toMatch(/^tidemark_worker_deaths_total 1$/m);
  });
});
