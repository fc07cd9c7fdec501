import { hash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { nodeBody } from "../../../server/bodies/node-body.ts";
import { type Encode, encode } from "../../../server/compression/encode.ts";
import { NodeCompression } from "../../../server/compression/node-compression.ts";
import type { DiskTier } from "../../../server/disk/disk-tier.ts";
import { plainAnswer } from "../../../server/http1/web-answer.ts";
import { startNodeIsolate } from "../../../server/program/node-isolate.ts";
import { memoryAlone } from "../../../server/startup/memory-alone.ts";
import type { IsolateStats, SiteStats } from "../../../wire/stats.ts";
import type { IncomingRequest } from "../../../worker/flow/request-context.ts";
import type { EdgeAnswer } from "../../../worker/isolate.ts";
import type { Answer } from "../../../worker/ports/answer.ts";
import type { OriginAnswer, OriginRequest } from "../../../worker/ports/origin.ts";
import { Fields } from "../../../worker/rules/fields/fields.ts";
import { compressionSettings } from "../../../worker/site/compression-settings.ts";
import { compileSite } from "../../../worker/site/site.ts";
import type { CompressionInput, RouteInput } from "../../../worker/site/site-input.ts";
import { decoded } from "../../engine/decoded-body.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { BEGINNING, HOST, TOKEN } from "../../engine/scenario.ts";
import { ServerLog } from "../../engine/server/server-log.ts";
import { streamed } from "../http1/running-listener.ts";

/** What the origin answers to a path. */
export interface OriginPage {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether it is sent as gzip: to those who accept that, or to everybody. Default: plain. */
  readonly gzip?: "if-accepted" | "always";
}

/** An answer with its body, as it came and decoded. */
export interface Received {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly coding: string | null;
  readonly bytes: Buffer;
  readonly text: string;
  readonly xCache: string | null;
}

export interface CompressingOptions {
  /** `null` for none. Default: all defaults. */
  readonly compression?: CompressionInput | null;
  readonly memoryBytes?: number;
  readonly disk?: DiskTier;
  readonly encode?: Encode;
  /** The log that several share. Default: one of its own. */
  readonly log?: SharedLog;
  /** Whether older versions are dictionaries, on a site behind https. Default false. */
  readonly deltas?: RouteInput["deltas"];
}

/** A purge log, and its clock. */
export class SharedLog {
  readonly clock = new ManualClock(BEGINNING);
  readonly calls = new ServerLog(() => this.clock.now()).calls;
}

/** The edge of one worker with compression, without sockets, in front of an origin that answers from a map. */
export class CompressingIsolate {
  readonly clock: ManualClock;
  readonly pages = new Map<string, OriginPage>();
  /** How often a body was coded. */
  made = 0;
  /** How often a body was hashed. */
  hashed = 0;
  asked = 0;
  readonly failures: unknown[] = [];
  readonly #isolate: ReturnType<typeof startNodeIsolate>;
  readonly #behind = new Set<Promise<unknown>>();

  constructor({
    compression = {},
    memoryBytes = 32 * 1024 * 1024,
    disk,
    encode: by = encode,
    log = new SharedLog(),
    deltas,
  }: CompressingOptions = {}) {
    this.clock = log.clock;
    const origin = "http://origin.internal";
    const routes = deltas === undefined ? [] : [{ match: "/*", deltas }];
    const publicUrl = deltas === undefined ? {} : { publicUrl: `https://${HOST}` };
    const site = compileSite({ origin, hosts: [HOST], routes, ...publicUrl, limits: { memoryBytes } }, {});
    const settings = compression && compressionSettings({ compression, routes });
    const counted: Encode = (...task) => {
      this.made++;
      return by(...task);
    };
    const digest = async (body: Uint8Array) => {
      this.hashed++;
      return hash("sha256", body, "base64url");
    };
    this.#isolate = startNodeIsolate(site, {
      compression: settings
        ? new NodeCompression({ settings, memoryBytes, files: disk?.compression ?? null, encode: counted, digest })
        : undefined,
      clock: this.clock,
      random: Math.random,
      sharedTier: disk ?? memoryAlone,
      origin: { url: origin, fetch: async (request) => this.#answer(request) },
      log: log.calls,
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      isolate: randomUUID(),
      write: () => undefined,
    });
  }

  /** Takes a request as a listener hands it over. */
  fetch(incoming: IncomingRequest): EdgeAnswer | Promise<EdgeAnswer> {
    return this.#isolate.fetch(incoming);
  }

  /** Gives the origin a page that may be stored for a minute. */
  page(path: string, body: string, fields: Readonly<Record<string, string>> = {}, gzip?: OriginPage["gzip"]): void {
    this.pages.set(path, {
      body,
      ...(gzip && { gzip }),
      fields: { "cache-control": "max-age=60", "content-type": "text/plain", ...fields },
    });
  }

  /** Asks, and reads the answer to its end. The work behind it goes on. */
  async ask(
    path: string,
    fields: Readonly<Record<string, string>> = {},
    method = "GET",
    sent: string | null = null,
    child: IncomingRequest["child"] = null,
  ): Promise<Received> {
    const body = sent === null ? null : streamed([sent], sent.length);
    const answer = await this.#isolate.fetch({
      request: { method, headers: new Fields(Object.entries(fields)), body, bodyUsed: false },
      url: `http://${HOST}${path}`,
      background: { run: (work) => this.#runs(work) },
      clientAddress: null,
      child,
    });
    return received(plainAnswer(answer));
  }

  /** Default: purges all. */
  async purge(items: object = { everything: true }): Promise<void> {
    const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const { status } = await this.ask("/_tidemark/purge", fields, "POST", JSON.stringify(items));
    if (status !== 200) throw new Error(`the purge was refused: ${status}`);
  }

  /** The counters of the isolate. */
  async stats(): Promise<IsolateStats> {
    const answer = await this.ask("/_tidemark/stats?scope=isolate", { authorization: `Bearer ${TOKEN}` });
    return JSON.parse(answer.text);
  }

  /** The bytes that were sent out of stored responses, as the ledger has them. */
  async bytesFromCache(): Promise<number> {
    await this.#isolate.reportLast();
    const { text } = await this.ask("/_tidemark/stats?last=15m", { authorization: `Bearer ${TOKEN}` });
    return (JSON.parse(text) as SiteStats).bytes.fromCache;
  }

  /** How many works go on behind the answers. */
  get behind(): number {
    return this.#behind.size;
  }

  /** Waits until nothing is left behind the answers. */
  async settled(): Promise<void> {
    while (this.#behind.size > 0) await Promise.allSettled(this.#behind);
  }

  #runs(work: Promise<unknown>): void {
    const counted = work
      .catch((cause: unknown) => this.failures.push(cause))
      .finally(() => this.#behind.delete(counted));
    this.#behind.add(counted);
  }

  #answer({ pathAndQuery, method, fields }: OriginRequest): OriginAnswer {
    this.asked++;
    const page = this.pages.get(pathAndQuery);
    const { status = 200, body = "" } = page ?? { status: 404 };
    const sent = new Fields([
      ["date", new Date(this.clock.now()).toUTCString()],
      ...Object.entries(page?.fields ?? {}),
    ]);
    const condition = fields.find(([name]) => name === "if-none-match")?.[1];
    if (condition !== undefined && condition === sent.get("etag")) {
      return { kind: "answered", response: { status: 304, statusText: "", fields: sent, body: null } };
    }
    const accepted = fields.find(([name]) => name === "accept-encoding")?.[1] ?? "";
    const isCoded = page?.gzip === "always" || (page?.gzip === "if-accepted" && accepted.includes("gzip"));
    if (isCoded) sent.set("content-encoding", "gzip");
    const bytes = isCoded ? gzipSync(body) : Buffer.from(body);
    sent.set("content-length", String(bytes.byteLength));
    const stream = method === "HEAD" ? null : streamed([bytes.toString("latin1")], bytes.byteLength);
    return { kind: "answered", response: { status, statusText: "", fields: sent, body: stream } };
  }
}

async function received({ status, fields, body }: Answer): Promise<Received> {
  const chunks: Uint8Array[] = [];
  if (body instanceof Uint8Array) chunks.push(body);
  else if (body) {
    const reader = nodeBodies.read(nodeBody(body));
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) chunks.push(piece);
  }
  const bytes = Buffer.concat(chunks);
  const coding = fields.get("content-encoding");
  const text = Buffer.from(decoded(bytes, coding ?? undefined)).toString();
  return { status, fields: Object.fromEntries(fields), coding, bytes, text, xCache: fields.get("x-cache") };
}

/** An encoder that waits until it is told. */
export class HeldEncode {
  readonly #gates: PromiseWithResolvers<void>[] = [];

  readonly encode: Encode = async (...task) => {
    const gate = Promise.withResolvers<void>();
    this.#gates.push(gate);
    await gate.promise;
    return encode(...task);
  };

  /** The bodies that wait. */
  get waiting(): number {
    return this.#gates.length;
  }

  /** Lets one go on. Default: the oldest. */
  release(which = 0): void {
    this.#gates.splice(which, 1)[0]!.resolve();
  }
}
