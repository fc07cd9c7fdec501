import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listenLocally, localUrl } from "../../../suite/local-url.ts";
import { breath, until } from "../../../suite/until.ts";
import { makeCertificate } from "../../connections/make-certificate.ts";
import { ServerProcess } from "../running-server.ts";
import {
  ALERTS,
  alertIntervals,
  alertTestsEvery,
  BOARD,
  metricsNamedIn,
  prometheusFile,
  promtool,
  queriesOfBoard,
} from "./prometheus-files.ts";
import { hasPrometheus, PrometheusServer } from "./prometheus-server.ts";

const hasPromtool = promtool(["--version"]) !== null;
const NOT_RUN = "the alerts of docs/prometheus are SKIPPED, because this machine has no promtool (Debian: prometheus)";
if (!hasPromtool) process.stdout.write(`${NOT_RUN}\n`);
const NOT_WATCHED = "a real Prometheus beside a server is SKIPPED, because this machine has none (Debian: prometheus)";
if (!hasPrometheus) process.stdout.write(`${NOT_WATCHED}\n`);

const TOKEN = "a-token-for-a-test-with-a-prometheus";
const DAY_MS = 86_400_000;
/** The same alerts, which fire as soon as what they are about is so. */
const AT_ONCE = prometheusFile(ALERTS)
  .replaceAll(/for: \d+m/g, "for: 0s")
  .replaceAll("alert: ", "alert: AtOnce");

const TITLE = "each alarm is raised when it should be, and no other, in series of a sample every %s";
const whereHere = hasPromtool ? TITLE : NOT_RUN;
/** Those of days take many times as long. */
test.skipIf(!hasPromtool).each(["1m"])(whereHere, alarmsAreRight);
test.skipIf(!hasPromtool).each(["10m"])(whereHere, { tags: ["deep"] }, alarmsAreRight);

function alarmsAreRight(interval: string): void {
  const tests = alertTestsEvery(interval);
  expect(promtool(["test", "rules", tests.file])).toMatchObject({ status: 0 });
  tests.remove();
}

test("there are no alert tests of another interval", () => {
  expect([...alertIntervals()]).toEqual(["1m", "10m"]);
});

describe.skipIf(!hasPrometheus)(hasPrometheus ? "a real Prometheus" : NOT_WATCHED, { timeout: 120_000 }, () => {
  const origin = createServer((request, response) => {
    const isStored = request.url!.startsWith("/kept");
    if (request.url === "/missing") response.statusCode = 404;
    response.setHeader("cache-control", isStored ? "max-age=600" : "no-store").end("page");
  });
  let folder: string;
  let server: ServerProcess;
  let address: URL;
  let prometheus: PrometheusServer | null = null;

  beforeAll(async () => {
    await listenLocally(origin);
    folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const { chain, key } = makeCertificate(["www.example.test"], { validUntil: new Date(Date.now() + 5 * DAY_MS) });
    writeFileSync(join(folder, "site.crt"), chain);
    writeFileSync(join(folder, "site.key"), key);
    const site = { origin: { url: localUrl(origin), concurrency: 8 }, routes: [{ match: "/kept/*" }] };
    writeFileSync(join(folder, "tidemark.config.ts"), `export default ${JSON.stringify(site)};\n`);
    const tls = ["--listen-tls", "127.0.0.1:0", "--tls-cert", "site.crt", "--tls-key", "site.key"];
    server = new ServerProcess(folder, ["--listen", "127.0.0.1:0", "--workers", "2", ...tls], {
      TIDEMARK_HOSTS: "*",
      TIDEMARK_TOKEN: TOKEN,
    });
    address = await server.address();
  }, 60_000);
  afterAll(async () => {
    await prometheus?.stop();
    await server?.stop();
    origin.close();
    rmSync(folder, { recursive: true });
  });

  let sent = 0;
  /** Some requests: for a page that is stored, for one that is not there, and for one that cannot be stored. */
  async function visit(): Promise<void> {
    for (const path of ["/kept/page", "/missing", `/new?${sent++}`]) await (await fetch(new URL(path, address))).text();
    await breath();
  }

  test("reads every rule and finds every metric, and raises an alarm when the origin stops", {
    tags: ["deep"],
  }, async () => {
    const rules = { "alerts.yml": prometheusFile(ALERTS), "at-once.yml": AT_ONCE };
    prometheus = await PrometheusServer.start(join(folder, "prometheus"), { address, token: TOKEN, rules });
    const watching = prometheus;
    const alertsThat = async (state: string) => {
      return (await watching.rules()).flatMap((rule) => (rule.state === state ? [rule.name] : []));
    };

    // While all is well: only the certificate, which is valid for five days.
    await until(async () => {
      await visit();
      const read = await watching.rules();
      return read.every(({ health }) => health !== "unknown") && (await alertsThat("firing")).length >= 2;
    });
    const count = prometheusFile(ALERTS).match(/alert:/g)!.length;
    const read = await watching.rules();
    expect(read.map(({ name, health, lastError }) => ({ name, health, lastError }))).toEqual(
      read.map(({ name }) => ({ name, health: "ok", lastError: undefined })),
    );
    expect(read).toHaveLength(2 * count);
    expect(await alertsThat("firing")).toEqual(["TidemarkCertificateExpires", "AtOnceTidemarkCertificateExpires"]);

    origin.close();
    origin.closeAllConnections();
    const raised = ["AtOnceTidemarkServerErrors", "AtOnceTidemarkOriginFails"];
    await until(async () => {
      await visit();
      const firing = await alertsThat("firing");
      return raised.every((name) => firing.includes(name));
    });
    // As they stand in the repository, they wait for five minutes before anybody is called.
    const waiting = ["TidemarkServerErrors", "TidemarkOriginFails"];
    await until(async () => (await alertsThat("pending")).length >= waiting.length);
    expect(await alertsThat("pending")).toEqual(waiting);

    const found = await watching.metrics();
    for (const file of [ALERTS, BOARD]) {
      expect({ file, missing: metricsNamedIn(file).filter((name) => !found.has(name)) }).toEqual({ file, missing: [] });
    }
    const empty: string[] = [];
    for (const query of queriesOfBoard()) if ((await watching.seriesOf(query)) === 0) empty.push(query);
    expect(empty).toEqual([]);
  });
});
