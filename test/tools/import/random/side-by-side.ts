import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Reply, SeenRequest } from "../../../../local/cdn/scripted-origin.ts";
import { type ImportedSite, siteOf } from "../../../../tools/import/imported-site.ts";
import { importNginx } from "../../../../tools/import/nginx/import-nginx.ts";
import type { ClientAnswer } from "../../../engine/engine.ts";
import { startMemoryEngine } from "../../../engine/memory/memory-engine.ts";
import type { ClientRequest } from "../../../engine/scenario.ts";
import { byDepth } from "../../../suite/depth.ts";
import { fieldIn, NginxProcess } from "../nginx-process.ts";
import { type RandomConfiguration, randomConfiguration } from "./random-configuration.ts";
import { randomRequests } from "./random-visitors.ts";
import { Safety } from "./safety.ts";
import { FOLDERS } from "./words.ts";

/** What a run of many configurations has shown. */
export interface Outcome {
  /** What must never be, of each configuration the first, with its text. */
  readonly leaks: string[];
  requests: number;
  /** Requests that nginx answered from its cache, and those of them that the site did, too. */
  nginxHits: number;
  sharedHits: number;
  /** Hits of nginx that no shared cache may have by RFC 9111, by the reason. They are not among `nginxHits`. */
  readonly forbidden: Map<string, number>;
  /** What the site did with the others, by its `X-Cache`. */
  readonly missed: Map<string, number>;
  /** Locations that nginx caches, and those of them that store. */
  cached: number;
  stored: number;
  /** Configurations without any cache, or whose addresses are not those of one site: nothing to import. */
  refused: number;
  /** How often the import has named a word as the reason to store nothing. */
  readonly because: Map<string, number>;
}

/** Requests for each configuration. */
const REQUESTS = byDepth({ test: 25, gate: 25, all: 60, explore: 150 });

/** Runs one nginx with the configurations of these seeds beside the sites that are imported from them. */
export async function runSideBySide(seeds: readonly number[]): Promise<Outcome> {
  const configurations = seeds.map((seed, id) => ({ seed, ...randomConfiguration(seed, id) }));
  const folder = mkdtempSync(join(tmpdir(), "tidemark-random-"));
  mkdirSync(join(folder, "sites"));
  for (const [id, { text }] of configurations.entries()) writeFileSync(join(folder, "sites", `${id}.conf`), text);
  writeFileSync(join(folder, "nginx.conf"), MAIN);
  for (const each of FOLDERS) {
    mkdirSync(join(folder, "disk", each), { recursive: true });
    writeFileSync(join(folder, "disk", each, "index.php"), "");
  }
  const origin = await startOrigin();
  const outcome: Outcome = {
    leaks: [],
    requests: 0,
    nginxHits: 0,
    sharedHits: 0,
    forbidden: new Map(),
    missed: new Map(),
    cached: 0,
    stored: 0,
    refused: 0,
    because: new Map(),
  };
  try {
    const nginx = await NginxProcess.start(folder, origin.port);
    try {
      for (const [id, configuration] of configurations.entries()) {
        const imported = importOf(join(folder, "sites", `${id}.conf`));
        if (imported === null) outcome.refused++;
        else await compare(configuration, imported, nginx, outcome);
      }
    } finally {
      await nginx.stop();
    }
  } finally {
    await origin.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return outcome;
}

const MAIN = `events { worker_connections 1024; }
http {
    variables_hash_max_size 8192;
    variables_hash_bucket_size 128;
    map_hash_max_size 8192;
    map_hash_bucket_size 256;
    server_names_hash_max_size 8192;
    server_names_hash_bucket_size 128;
    include sites/*.conf;
}
`;

function importOf(file: string): ImportedSite | null {
  try {
    return importNginx(file, { origin: "http://127.0.0.1:8000", host: null, server: null, root: null });
  } catch (error) {
    if ((error as Error).name === "ImportError") return null;
    throw error;
  }
}

async function compare(
  { seed, host, text }: RandomConfiguration & { readonly seed: number },
  imported: ImportedSite,
  nginx: NginxProcess,
  outcome: Outcome,
): Promise<void> {
  for (const { isCached, stores, because } of imported.locations) {
    outcome.cached += Number(isCached);
    outcome.stored += Number(stores);
    for (const word of because) count(outcome.because, word);
  }
  const { origin: _, ...site } = siteOf(imported);
  const tidemark = startMemoryEngine(site, 1);
  tidemark.answerBy!(replyTo);
  const leaks: string[] = [];
  const refetching = refetchingFields(imported);
  const safety = new Safety();
  const requests = randomRequests(seed, host, REQUESTS);
  const answers = await nginx.sendInOrder(requests);
  for (const [index, request] of requests.entries()) {
    const byNginx = answers[index]!;
    const own = await tidemark.settle(tidemark.send(request));
    await tidemark.finishWork();
    outcome.requests++;
    const isHit = /^(?:HIT|STALE|UPDATING)$/.test(own.fields["x-cache"] ?? "");
    const status = byNginx.fields["x-cache"] ?? "";
    const reason = isHit ? null : safety.whyForbidden(request, own, byNginx);
    if (status === "HIT" && reason !== null) count(outcome.forbidden, reason);
    else if (status === "HIT") {
      outcome.nginxHits++;
      outcome.sharedHits += Number(isHit);
      if (!isHit) count(outcome.missed, own.fields["x-cache"] ?? String(own.status));
    }
    safety.saw(request, own, status);
    const asked = `seed ${seed}: ${request.method} ${request.path} ${JSON.stringify(request.fields)}`;
    const refetches = refetching.some((name) => request.fields?.[name] !== undefined);
    // What nginx has as a file is for everybody. The origin names no entity tags.
    const isFile = byNginx.fields.etag !== undefined;
    if (isHit && !isFile && (status === "" || status === "BYPASS") && !(status === "BYPASS" && refetches)) {
      leaks.push(`${asked}: answered from the store, and nginx passed it (${status || byNginx.status})\n${text}`);
    }
    if (isAnothers(request, own)) leaks.push(`${asked}: got ${JSON.stringify(own.body)}\n${text}`);
  }
  outcome.leaks.push(...leaks.slice(0, 1));
  await tidemark.stop();
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

/** The fields that made nginx fetch a page again, which the edge leaves to `Tidemark-Refresh` and `requestDirectives`. */
function refetchingFields({ differences }: ImportedSite): readonly string[] {
  return differences.flatMap(({ why, affects }) =>
    /^A (?:secret in |visitor's reload )/.test(why) ? (affects.requestFields ?? []) : [],
  );
}

/** Whether the body was made for a visitor with other cookies or credentials. */
function isAnothers({ fields = {} }: ClientRequest, { body }: ClientAnswer): boolean {
  const madeFor = /for <(.*)>$/s.exec(body)?.[1] ?? "";
  return [...madeFor.matchAll(/v\d+/g)].some(
    ([visitor]) => !Object.values(fields).some((value) => value.includes(visitor)),
  );
}

/** The site: pages of many kinds, by their paths. What is for one visitor alone names what he sent. */
function replyTo({ method, target, fields }: SeenRequest): Reply {
  const path = target.split("?")[0]!;
  const kind = [...path].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 997, 7) % 24;
  const sent = [fields.cookie, fields.authorization, fields["x-preview"]]
    .filter((value) => value !== undefined)
    .join("; ");
  const body = `${method} ${target} for <${sent}>`;
  const isOfOne = /account|private|checkout|cart|login/.test(path);
  if (isOfOne && sent !== "")
    return { body, fields: { "cache-control": kind % 2 === 0 ? "private, max-age=60" : "no-store" } };
  if (kind === 0) return { body: `${target} for <>`, fields: { "cache-control": "public, max-age=600" } };
  if (kind === 1) return { body, fields: { "cache-control": "max-age=600" } };
  if (kind === 2) return { body, fields: { "set-cookie": "theme=v0" } };
  if (kind === 3) return { body, status: 404 };
  if (kind === 4) return { body, fields: { "x-accel-buffering": "no" } };
  return { body };
}

/** The site on a port. nginx opens a connection for each request, and a plain one costs half as much as one of `node:http`. */
async function startOrigin(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const server = createServer((socket) => {
    let received = "";
    socket.setEncoding("latin1").on("error", () => socket.destroy());
    socket.on("data", (piece) => {
      received += String(piece);
      const answer = answerTo(received);
      if (answer !== null) socket.end(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The answer to a request, as text; `null` until all of the request is there. */
function answerTo(received: string): string | null {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [start = "", ...lines] = received.slice(0, end).split("\r\n");
  const [method = "", target = ""] = start.split(" ");
  const sent = Object.fromEntries(lines.map((line) => fieldIn(line)));
  if (received.length < end + 4 + Number(sent["content-length"] ?? 0)) return null;
  const { status = 200, fields = {}, body = "" } = replyTo({ method, target, fields: sent, body: "" });
  const all = { ...fields, "content-length": String(Buffer.byteLength(body)), connection: "close" };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} \r\n${head.join("")}\r\n${method === "HEAD" ? "" : body}`;
}
