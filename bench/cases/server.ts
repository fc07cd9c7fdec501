import { join } from "node:path";
import { Option } from "commander";
import { BenchFailure } from "../frame/bench-failure.ts";
import { type Case, count, hasWord, words } from "../frame/case.ts";
import { CADDY, isInstalled, NGINX, VARNISH, WRK } from "../frame/programs.ts";
import {
  type Contestant,
  type Lane,
  laneOf,
  messageOf,
  printTurns,
  summarize,
  type TurnsResult,
  takeTurns,
} from "../frame/turns.ts";
import { makeCertificate } from "../inputs/certificate.ts";
import { caddyFiles, caddyProxy } from "../peers/caddy.ts";
import { constantNode } from "../peers/constant-node.ts";
import { ordinaryNginx, tunedNginx } from "../peers/nginx.ts";
import { type CertificateFiles, type Peer, RunningPeer, type Site } from "../peers/peer.ts";
import { SOURCES_COMMAND, tidemark } from "../peers/tidemark.ts";
import { varnish } from "../peers/varnish.ts";
import { type CountingOrigin, type Origins, PAGE_SIZES, type ServerRow, serverRows } from "../server/server-rows.ts";
import { SlowOrigin } from "../server/slow-origin.ts";
import { StaticOrigin } from "../server/static-origin.ts";

const WARM_UP_SECONDS = 2;
const FULL = { connections: 500, files: 12_500, stampede: 1000 };
/** A handshake costs servers and clients twenty times as much as a request. */
const OVER_TLS = { connections: 500, files: 2000, stampede: 200 };
const QUICK = { connections: 100, files: 200, stampede: 100 };
const REFERENCES = [{ label: "nginx", name: ordinaryNginx.name }];

interface ServerOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly workers: number;
  readonly rows?: string;
  readonly servers?: string;
  readonly tidemark: string;
  readonly tls?: true;
  readonly quick?: true;
}

interface RowResult {
  readonly row: string;
  readonly servers: readonly TurnsResult[];
}

export const server: Case<ServerOptions> = {
  name: "server",
  description: "`tidemark serve` beside nginx, Varnish, Caddy and a Node server that answers with a constant.",
  options: [
    count("--rounds", "how many turns each server has in a row", 7),
    count("--seconds", "how long a turn takes", 3),
    count("--workers", "how many processes each server may answer with", 1),
    words("--rows", "only the rows whose name has one of these, separated by commas"),
    words("--servers", "only nginx and the servers whose name has one of these, separated by commas"),
    new Option("--tls", "over TLS 1.3 with a key on P-256; Varnish takes no part"),
    new Option(
      "--tidemark <command>",
      "how to start Tidemark; {project}, {origin}, {listen}, {cache} and {workers} are filled in",
    ).default(SOURCES_COMMAND),
    new Option("--quick", "one short round, to see that everything works; its figures mean nothing"),
  ],
  needs: [NGINX, WRK], // nginx is the origin of all rows, too
  uses: [VARNISH, CADDY],
  async measure(given) {
    const options = given.quick ? { ...given, rounds: 1, seconds: 1 } : given;
    const peers = [
      ...[ordinaryNginx, tunedNginx, tidemark(options.tidemark)],
      ...[varnish(), caddyFiles, caddyProxy, constantNode],
    ].filter((peer) => peer === ordinaryNginx || hasWord(peer.name, options.servers));
    for (const { name, needs } of peers) {
      if (needs !== null && !isInstalled(needs)) console.log(`${name}: SKIPPED, because it is not installed.`);
    }
    await using pages = await StaticOrigin.start(PAGE_SIZES);
    await using slow = await SlowOrigin.start();
    const origins = { static: pages, slow };
    const tls = options.tls ? makePair(pages.folder) : null;
    const amounts = { ...(options.quick ? QUICK : tls ? OVER_TLS : FULL), seconds: options.seconds };
    const results: RowResult[] = [];
    for (const row of serverRows(origins, amounts).filter(({ name }) => hasWord(name, options.rows))) {
      const lanes = await measureRow(row, peers, origins, tls, options);
      const servers = summarize(lanes, REFERENCES);
      printTurns(row.name, servers, REFERENCES);
      results.push({ row: row.name, servers });
    }
    const failures = results.flatMap(({ row, servers }) =>
      servers.flatMap(({ name, failure }) => (failure === null ? [] : [`${row}: ${name}: ${failure}`])),
    );
    return { results: { rows: results }, failures };
  },
};

/** Starts all servers of a row, checks their answers, and measures them in turn. */
async function measureRow(
  row: ServerRow,
  peers: readonly Peer[],
  origins: Origins,
  tls: CertificateFiles | null,
  { rounds, workers, quick }: ServerOptions,
): Promise<readonly Lane[]> {
  const origin = row.kind === "stampede" ? origins.slow : origins.static;
  const site = { origin: origin.url, folder: origins.static.folder, workers, bodyBytes: row.bodyBytes, tls };
  await using stack = new AsyncDisposableStack();
  const lanes: Lane[] = [];
  for (const peer of peers.filter((each) => takesPart(each, row, tls))) {
    const started = await startVerified(peer, site, row).catch(messageOf);
    if (typeof started !== "string") stack.use(started);
    lanes.push(
      typeof started === "string"
        ? { name: peer.name, contestant: null, turns: [], failure: started }
        : laneOf(contestantOf(started, row, origin)),
    );
  }
  await takeTurns(lanes, { rounds, warmUpSeconds: quick ? 0 : WARM_UP_SECONDS });
  return lanes;
}

async function startVerified(peer: Peer, site: Site, row: ServerRow): Promise<RunningPeer> {
  const running = await RunningPeer.start(peer, site);
  try {
    await row.verify(running);
    return running;
  } catch (cause) {
    await running[Symbol.asyncDispose]();
    throw cause;
  }
}

function contestantOf({ peer, server, url }: RunningPeer, row: ServerRow, origin: CountingOrigin): Contestant {
  return {
    name: peer.name,
    pid: () => server.pid,
    load: async (turn) => {
      const load = await row.load(url, turn);
      if (server.hasEnded) throw new BenchFailure(`It ended under load: ${server.lastOutput}`);
      return load;
    },
    originRequests: () => origin.requests(),
    missShare: peer.isHit === null ? null : row.missShare, // one without a store asks as often as it likes
  };
}

function takesPart({ kinds, needs, speaksTls }: Peer, { kind }: ServerRow, tls: CertificateFiles | null): boolean {
  return kinds.includes(kind) && (needs === null || isInstalled(needs)) && (tls === null || speaksTls);
}

function makePair(folder: string): CertificateFiles {
  const pair = { certificate: join(folder, "tls.crt"), key: join(folder, "tls.key") };
  makeCertificate(pair.certificate, pair.key);
  return pair;
}
