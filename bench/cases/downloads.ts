import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { Agent, request } from "undici";
import { BenchFailure } from "../frame/bench-failure.ts";
import { type Case, chosenBy, count, words } from "../frame/case.ts";
import { median } from "../frame/median.ts";
import { isInstalled, NGINX, VARNISH } from "../frame/programs.ts";
import { printTable } from "../frame/table.ts";
import { nginx } from "../peers/nginx.ts";
import { type Peer, RunningPeer } from "../peers/peer.ts";
import { commandOption, tidemark } from "../peers/tidemark.ts";
import { varnish } from "../peers/varnish.ts";
import { LocalOrigin } from "../processes/local-origin.ts";

const PIECE = Buffer.alloc(64 * 1024, "piece ");
const MEGABYTE = 16 * PIECE.length;
/** One client comes so long after the other: milliseconds. */
const APART_MS = 50;

interface Downloads {
  readonly clients: number;
  readonly megabytes: number;
  readonly rate: number;
  readonly rounds: number;
  readonly peers?: string;
  readonly tidemark: string;
}

interface Round {
  readonly sentMegabytes: number;
  /** Of each client: until it had the first byte, and the last. */
  readonly firstMs: readonly number[];
  readonly lastMs: readonly number[];
}

export const downloads: Case<Downloads> = {
  name: "downloads",
  description: "One large file that many clients want at once: how often the origin sends it, and how long they wait.",
  options: [
    count("--clients", "how many clients", 20),
    count("--megabytes", "the size of the file", 100),
    count("--rate", "how many megabytes a second the origin sends on each connection", 10),
    count("--rounds", "how often each cache has an empty store", 3),
    words("--peers", "only caches with one of these words in their names"),
    commandOption(),
  ],
  needs: [],
  uses: [NGINX, VARNISH],
  async measure({ peers: chosen, tidemark: command, ...settings }) {
    const all = [
      tidemark(command),
      nginx(),
      nginx("nginx, cache lock", { location: ["proxy_cache_lock on;"] }),
      varnish(),
    ];
    const peers = chosenBy(chosen, all).filter(({ needs }) => needs === null || isInstalled(needs));
    await using origin = await FileOrigin.start();
    origin.bytes = settings.megabytes * MEGABYTE;
    origin.pieceEveryMs = (1000 * PIECE.length) / MEGABYTE / settings.rate;
    const rounds = new Map<string, Round[]>(peers.map(({ name }) => [name, []]));
    for (let round = 0; round < settings.rounds; round++) {
      for (const peer of peers) rounds.get(peer.name)!.push(await measureRound(peer, origin, settings.clients));
    }
    const figures = [...rounds].map(([name, of]) => ({
      name,
      sentMegabytes: median(of.map(({ sentMegabytes }) => sentMegabytes)),
      firstMs: median(of.flatMap(({ firstMs }) => firstMs)),
      lastMs: median(of.flatMap(({ lastMs }) => lastMs)),
      mostMs: median(of.map(({ lastMs }) => Math.max(...lastMs))),
    }));
    console.log();
    printTable(
      ["", "MB from the origin", "first byte, p50 s", "whole, p50 s", "whole, all s"],
      figures.map(({ name, sentMegabytes, ...ms }) => [
        name,
        String(Math.round(sentMegabytes)),
        ...[ms.firstMs, ms.lastMs, ms.mostMs].map((each) => (each / 1000).toFixed(1)),
      ]),
    );
    return { results: { figures, rounds: Object.fromEntries(rounds) }, failures: [] };
  },
};

async function measureRound(peer: Peer, origin: FileOrigin, clients: number): Promise<Round> {
  await using running = await RunningPeer.start(peer, { origin: origin.url });
  origin.sentBytes = 0;
  const agent = new Agent({ connections: clients, headersTimeout: 0, bodyTimeout: 0 });
  const times = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      await wait(client * APART_MS);
      return download(new URL("/file.iso", running.url), origin.bytes, agent);
    }),
  );
  await agent.close();
  const { sentBytes } = origin;
  return {
    sentMegabytes: sentBytes / MEGABYTE,
    firstMs: times.map(({ firstMs }) => firstMs),
    lastMs: times.map(({ lastMs }) => lastMs),
  };
}

async function download(url: URL, bytes: number, dispatcher: Agent): Promise<{ firstMs: number; lastMs: number }> {
  const begunAt = performance.now();
  const { statusCode, body } = await request(url, { dispatcher });
  let firstMs: number | undefined;
  let received = 0;
  for await (const piece of body) {
    firstMs ??= performance.now() - begunAt;
    received += (piece as Buffer).byteLength;
  }
  if (statusCode !== 200 || received !== bytes)
    throw new BenchFailure(`${url} gave ${statusCode} and ${received} of ${bytes} bytes.`);
  return { firstMs: firstMs ?? Number.NaN, lastMs: performance.now() - begunAt };
}

/** An origin with one large file, which it sends at a steady pace, and counts. */
class FileOrigin extends LocalOrigin {
  bytes = 0;
  pieceEveryMs = 0;
  sentBytes = 0;

  protected override answer(_: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { "cache-control": "public, max-age=3600", "content-length": this.bytes });
    void this.#send(response).catch(() => undefined); // A cache has gone.
  }

  async #send(response: ServerResponse): Promise<void> {
    const gone = once(response, "close");
    const begunAt = performance.now();
    for (let piece = 0; piece * PIECE.length < this.bytes && !response.destroyed; piece++) {
      const early = begunAt + piece * this.pieceEveryMs - performance.now();
      if (early > 1) await wait(early);
      this.sentBytes += PIECE.length;
      if (!response.write(PIECE)) await Promise.race([once(response, "drain"), gone]);
    }
    response.end();
  }
}
