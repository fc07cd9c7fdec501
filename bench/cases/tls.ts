import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { assertInstalled, versionOf } from "../debian-programs.ts";
import { makeCertificate } from "../inputs/certificate.ts";
import { AB, measureWithAb } from "../load/ab.ts";
import type { Load } from "../load/load.ts";
import { measureWithWrk, WRK } from "../load/wrk.ts";
import { NGINX } from "../nginx/nginx-cache.ts";
import { nginxConfig } from "../nginx/nginx-config.ts";
import { positive } from "../options.ts";
import { type CommandLine, type Place, ServerProcess } from "../processes/server-process.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { takeTurns } from "../server/cpu-turns.ts";
import { StaticOrigin } from "../server/static-origin.ts";

const PROJECT = resolve(fileURLToPath(new URL("../..", import.meta.url)));
const SIZES = [1000, 10_000, 100_000] as const;
const CONNECTIONS = 50;
const HANDSHAKES = 2000;

interface TlsOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly json?: string;
}

export const tls = new Command("tls")
  .description(
    "Hits and handshakes over TLS 1.3 with a P-256 key: `tidemark serve` beside nginx and Caddy, one process each.",
  )
  .option("--rounds <n>", "how many turns each server has in a row", positive, 5)
  .option("--seconds <n>", "how long a turn of wrk takes", positive, 2)
  .option("--json <file>", "where the results go (default: bench/results/tls-<date>.json)")
  .action(measureTls);

/** A certificate for 127.0.0.1 and its key: the paths of their files. */
interface Pair {
  readonly certificate: string;
  readonly key: string;
}

type Start = (origin: StaticOrigin, place: Place, pair: Pair) => CommandLine;

const servers: Readonly<Record<string, Start>> = {
  nginx: ({ url }, { port, folder }, { certificate, key }) => {
    const file = join(folder, "nginx.conf");
    const http = `sendfile on; tcp_nopush on;
      proxy_cache_path ${folder}/cache levels=1:2 keys_zone=pages:64m max_size=10g inactive=1d use_temp_path=off;
      server {
        listen 127.0.0.1:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${key};
        ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:10m;
        location / { proxy_pass ${url.origin}; proxy_cache pages; }
      }`;
    writeFileSync(file, nginxConfig(folder, { workers: 1, http }));
    return ["nginx", "-c", file, "-e", join(folder, "error")];
  },
  Caddy: (origin, { port, folder }, { certificate, key }) => {
    const file = join(folder, "Caddyfile");
    const site = `tls ${certificate} ${key}\n    root * ${origin.folder}\n    file_server`;
    const top = "admin off\n    auto_https off\n    default_sni localhost";
    writeFileSync(file, `{\n    ${top}\n}\nhttps://:${port} {\n    bind 127.0.0.1\n    ${site}\n}\n`);
    return ["env", "GOMAXPROCS=1", "caddy", "run", "--config", file, "--adapter", "caddyfile"];
  },
  Tidemark: ({ url }, { port, folder }, { certificate, key }) => [
    process.execPath,
    ...[
      join(PROJECT, "cli/main.ts"),
      "serve",
      "--origin",
      url.origin,
      "--cache",
      join(folder, "cache"),
      "--workers",
      "1",
    ],
    ...["--listen-tls", `127.0.0.1:${port}`, "--tls-cert", certificate, "--tls-key", key],
  ],
};

interface Running {
  readonly name: string;
  readonly server: ServerProcess;
  readonly url: URL;
}

interface Row {
  readonly name: string;
  readonly load: (site: URL) => Promise<Load>;
}

async function measureTls(options: TlsOptions): Promise<void> {
  const needed = [NGINX, AB, WRK, { program: "caddy", package: "caddy" }];
  assertInstalled(needed);
  const page = (site: URL, bytes: number) => new URL(`/pages/${bytes}.html`, site);
  const rows: readonly Row[] = [
    ...SIZES.map((bytes) => ({
      name: `hits: wrk -c ${CONNECTIONS}, ${bytes / 1000} KB`,
      load: (site: URL) => measureWithWrk(page(site, bytes), { connections: CONNECTIONS, seconds: options.seconds }),
    })),
    {
      name: `handshakes: ab -c ${CONNECTIONS}, 1 KB, a connection for each request`,
      load: (site) =>
        measureWithAb(page(site, 1000), { connections: CONNECTIONS, requests: HANDSHAKES, keepAlive: false }),
    },
  ];
  await using origin = await StaticOrigin.start(SIZES);
  const pair = makePair(origin.folder);
  const running: Running[] = [];
  try {
    for (const [name, start] of Object.entries(servers)) {
      const server = await ServerProcess.start(name, async (place) => start(origin, place, pair));
      const url = new URL(`https://${server.url.host}`);
      running.push({ name, server, url });
      // Asked twice, because what is stored is stored behind the first answer.
      for (const bytes of [...SIZES, ...SIZES]) await assertPage(name, page(url, bytes), bytes);
    }
    const results = [];
    for (const row of rows) results.push(await measureRow(row, running, options.rounds));
    const versions = Object.fromEntries(needed.map((each) => [each.program, versionOf(each)]));
    const { json, ...settings } = options;
    writeResults("tls", { machine: thisMachine(), versions, settings, rows: results }, json);
  } finally {
    await Promise.all(running.map(({ server }) => server[Symbol.asyncDispose]()));
  }
}

async function measureRow({ name, load }: Row, running: readonly Running[], rounds: number) {
  console.log(`\n${name}`);
  const figures = await takeTurns(
    running.map(({ url, ...each }) => ({ ...each, load: () => load(url) })),
    rounds,
  );
  const servers = figures.map(({ name: of, ...exact }) => {
    const [perSecond, cpuMicros] = [Math.round(exact.perSecond), Math.round(exact.cpuMicros)];
    console.log(
      `  ${of.padEnd(10)} ${perSecond.toLocaleString("en").padStart(8)} a second, ${cpuMicros} µs of CPU each`,
    );
    return { name: of, perSecond, cpuMicros };
  });
  return { name, servers };
}

async function assertPage(name: string, url: URL, bytes: number): Promise<void> {
  const [answer] = await once(request(url, { rejectUnauthorized: false }).end(), "response");
  let got = 0;
  for await (const piece of answer) got += piece.length;
  if (answer.statusCode !== 200 || got !== bytes) {
    throw new BenchFailure(`${name} answers ${url} with ${answer.statusCode} and ${got} bytes.`);
  }
}

function makePair(folder: string): Pair {
  const pair = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  makeCertificate(pair.certificate, pair.key);
  return pair;
}
