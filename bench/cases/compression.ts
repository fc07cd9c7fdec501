import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { encode } from "../../server/compression/encode.ts";
import { CODINGS } from "../../worker/rules/variants/accept-encoding.ts";
import { compressionSettings } from "../../worker/site/compression-settings.ts";
import { assertInstalled, versionOf } from "../debian-programs.ts";
import { measureWithWrk, WRK } from "../load/wrk.ts";
import { NGINX } from "../nginx/nginx-cache.ts";
import { nginxConfig } from "../nginx/nginx-config.ts";
import { positive } from "../options.ts";
import { type CommandLine, type Place, ServerProcess } from "../processes/server-process.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { median } from "../report/median.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";
import { takeTurns } from "../server/cpu-turns.ts";
import { StaticOrigin } from "../server/static-origin.ts";

const PROJECT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
/** Pages as sites have them: a script with its page, data, prose. */
const PAGES = {
  dashboard: "worker/control/dashboard/dashboard-page.ts",
  data: "docs/grafana.json",
  prose: "docs/design.md",
} as const;
type Page = keyof typeof PAGES;
const CONNECTIONS = 50;
const NGINX_ZIPS = "gzip on; gzip_vary on; gzip_proxied any;";

interface CompressionOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly json?: string;
}

export const compression = new Command("compression")
  .description("What compressing a page costs, once, and a hit of it, by each coding: `tidemark serve` beside nginx.")
  .option("--rounds <n>", "how many turns each row has", positive, 5)
  .option("--seconds <n>", "how long a turn of wrk takes", positive, 1)
  .option("--json <file>", "where the results go (default: bench/results/compression-<date>.json)")
  .action(measureCompression);

async function measureCompression(options: CompressionOptions): Promise<void> {
  const needed = [NGINX, WRK];
  assertInstalled(needed);
  const making = await measureMaking(options.rounds);
  const hits = await measureHits(options);
  const versions = Object.fromEntries(needed.map((each) => [each.program, versionOf(each)]));
  const { json, ...settings } = options;
  writeResults("compression", { machine: thisMachine(), versions, settings, making, hits }, json);
}

/** The bytes and the CPU time of making each coding, by the default levels. */
async function measureMaking(rounds: number) {
  const { levels } = compressionSettings({ compression: {} })!;
  const rows = [];
  for (const page of Object.keys(PAGES) as Page[]) {
    const body = bodyOf(page);
    for (const coding of CODINGS) {
      const times: number[] = [];
      let bytes = 0;
      for (let round = 0; round <= rounds; round++) {
        const before = process.cpuUsage();
        for (let again = 0; again < 10; again++) bytes = (await encode(coding, body, levels[coding])).byteLength;
        const { user, system } = process.cpuUsage(before);
        if (round > 0) times.push((user + system) / 10);
      }
      rows.push({ page, plainBytes: body.byteLength, coding, level: levels[coding], bytes, cpuMicros: median(times) });
    }
  }
  printTable(
    ["page", "bytes", "coding", "level", "coded", "share", "CPU µs"],
    rows.map(({ page, plainBytes, coding, level, bytes, cpuMicros }) => [
      page,
      `${plainBytes}`,
      coding,
      `${level}`,
      `${bytes}`,
      `${Math.round((bytes / plainBytes) * 100)} %`,
      `${Math.round(cpuMicros)}`,
    ]),
  );
  return rows;
}

interface Row {
  readonly name: string;
  readonly start: (origin: URL, place: Place) => CommandLine;
  readonly accepts: string | null;
  readonly coding: string | null;
}

const rows: readonly Row[] = [
  { name: "off", start: tidemark(null), accepts: "br", coding: null },
  { name: "on, plain", start: tidemark({}), accepts: null, coding: null },
  { name: "on, br", start: tidemark({}), accepts: "gzip, deflate, br, zstd", coding: "br" },
  { name: "on, gzip", start: tidemark({}), accepts: "gzip", coding: "gzip" },
  { name: "nginx, plain", start: nginx(""), accepts: null, coding: null },
  { name: "nginx, gzip of each answer", start: nginx(NGINX_ZIPS), accepts: "gzip", coding: "gzip" },
];

/** The CPU time of hits. */
async function measureHits({ rounds, seconds }: CompressionOptions) {
  await using origin = await StaticOrigin.start([1000]);
  for (const page of Object.keys(PAGES) as Page[]) {
    writeFileSync(join(origin.folder, "pages", `${page}.html`), bodyOf(page));
  }
  const results: { page: Page; name: string; cpuMicros: number }[] = [];
  const servers: { readonly row: Row; readonly server: ServerProcess }[] = [];
  try {
    for (const row of rows) {
      const server = await ServerProcess.start(row.name, async (place) => row.start(origin.url, place));
      servers.push({ row, server });
    }
    for (const page of Object.keys(PAGES) as Page[]) {
      for (const { row, server } of servers) await warm(row, urlOf(server, page));
      const contestants = servers.map(({ row, server }) => {
        const fields = row.accepts === null ? [] : [`Accept-Encoding: ${row.accepts}`];
        const load = () => measureWithWrk(urlOf(server, page), { connections: CONNECTIONS, seconds, fields });
        return { name: row.name, server, load };
      });
      for (const { name, cpuMicros } of await takeTurns(contestants, rounds)) results.push({ page, name, cpuMicros });
    }
  } finally {
    await Promise.all(servers.map(({ server }) => server[Symbol.asyncDispose]()));
  }
  console.log("\nCPU µs of a hit");
  printTable(
    ["", ...Object.keys(PAGES)],
    rows.map(({ name }) => [
      name,
      ...results.filter((each) => each.name === name).map(({ cpuMicros }) => cpuMicros.toFixed(1)),
    ]),
  );
  return results;
}

function urlOf({ url }: ServerProcess, page: Page): URL {
  return new URL(`/pages/${page}.html`, url);
}

/** Asks until the page comes in its coding, which is made behind an answer. */
async function warm({ name, accepts, coding }: Row, url: URL): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    const answer = await fetch(url, { headers: { "accept-encoding": accepts ?? "identity" } });
    await answer.arrayBuffer();
    const isHit = answer.headers.get("x-cache") !== "MISS";
    if (tries > 1 && isHit && answer.headers.get("content-encoding") === coding) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new BenchFailure(`${name} does not send ${url} as ${coding}.`);
}

function tidemark(settings: object | null) {
  return (origin: URL, { port, folder }: Place): CommandLine => {
    const config = join(folder, "tidemark.config.mjs");
    const site = { origin: origin.origin, ...(settings && { compression: settings }) };
    writeFileSync(config, `export default ${JSON.stringify(site)};\n`);
    const program = [process.execPath, join(PROJECT, "cli/main.ts"), "serve", "--config", config] as const;
    return [...program, "--listen", `${port}`, "--cache", join(folder, "cache"), "--workers", "1"];
  };
}

function nginx(zips: string) {
  return ({ origin }: URL, { port, folder }: Place): CommandLine => {
    const file = join(folder, "nginx.conf");
    const http = `sendfile on; tcp_nopush on; keepalive_requests 1000000; ${zips}
      proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:64m max_size=10g inactive=1d use_temp_path=off;
      server {
        listen 127.0.0.1:${port};
        location / { proxy_pass ${origin}; proxy_cache pages; proxy_set_header Accept-Encoding ""; }
      }`;
    writeFileSync(file, nginxConfig(folder, { workers: 1, http }));
    return ["nginx", "-c", file, "-e", join(folder, "error")];
  };
}

function bodyOf(page: Page): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(PROJECT, PAGES[page])));
}
