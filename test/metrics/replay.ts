import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../server/log/node-sql.ts";
import type { IsolateStats, SiteStats } from "../../wire/stats.ts";
import { startControl } from "../../worker/isolate-control.ts";
import { type LearningIsolate, startLearningIsolate } from "../../worker/learning-isolate.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import type { LedgerClient, ReadLedger, Report } from "../../worker/metrics/reports.ts";
import type { OriginAnswer, OriginRequest } from "../../worker/ports/origin.ts";
import type { PurgeAudit } from "../../worker/ports/purge-log.ts";
import type { PurgeLogClient } from "../../worker/purges/log/log-contract.ts";
import { SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import type { Stored } from "../../worker/rules/storing/stored-response.ts";
import { fromWebResponse, toWebResponse } from "../../worker/runtime/web-answer.ts";
import { compileSite } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { chances } from "../engine/chances.ts";
import { memoryBodies } from "../engine/memory/memory-bodies.ts";

const START = Date.UTC(2026, 0, 1, 12);
const HOST = "www.example.test";
const BEARER = { authorization: "Bearer token" };

/** An answer as its client saw it. */
export interface Witnessed {
  readonly isolate: string;
  readonly pop: string;
  readonly at: number;
  readonly xCache: string | null;
  readonly status: number;
  readonly cacheStatus: string;
  readonly path: string;
  readonly bodyBytes: number;
  readonly tookMs: number;
}

/** The site and its origin. */
export interface ReplayWorld {
  readonly site: Partial<SiteInput>;
  /** The answer to a request: fields and body. A body without `content-length` comes in chunks. */
  readonly answer: (request: OriginRequest, random: () => number) => { fields: Record<string, string>; body: string };
  /** How long the origin takes, at least and at most. Milliseconds. */
  readonly originMs?: readonly [number, number];
}

interface RunningReplay {
  readonly name: string;
  readonly isolate: LearningIsolate;
}

/**
 * Real isolates in three PoPs, with the real log and ledger, one request after the other. Only time is virtual: whatever is
 * awaited takes some of it.
 */
export class Replay {
  now = START;
  readonly witnessed: Witnessed[] = [];
  readonly asked: OriginRequest[] = [];
  /** What the isolates have told the owner. */
  readonly lines: string[] = [];
  originFailures = 0;
  originBytes = 0;
  /** What each isolate has reported, as far as the ledger has taken it: by isolate, the requests and when it ended. */
  readonly heard = new Map<string, { requests: number; until: number; number: number }>();
  readonly killed: { readonly isolate: string; readonly at: number }[] = [];
  readonly random: () => number;
  /** What happens to the next calls of the log. */
  fate: "answers" | "loses the answer" | "is silent" = "answers";
  /** Whether all isolates are asked to report before the stats are read, as on one machine. */
  asksIsolates = false;
  readonly #database = new DatabaseSync(":memory:");
  readonly #skewMs: Readonly<Record<string, number>>;
  readonly #tiers = new Map<string, Map<string, Stored>>();
  readonly #running = new Map<string, RunningReplay>();
  readonly #waiting: { readonly until: number; readonly resolve: () => void }[] = [];
  #work: Promise<unknown>[] = [];
  #answeredAt = START;
  #log!: SqlPurgeLog;
  #ledger!: SqlLedger;

  readonly #world: ReplayWorld;

  constructor(seed: number, skewMs: Readonly<Record<string, number>> = {}, world: ReplayWorld = KINDS) {
    this.random = chances(seed);
    this.#world = world;
    this.#skewMs = skewMs;
    this.restartLog();
  }

  restartLog(): void {
    const sql = sqlOver(this.#database);
    this.#log = new SqlPurgeLog(sql, {}, () => this.now, randomUUID);
    this.#ledger = new SqlLedger(sql, () => this.now);
  }

  /** The isolate dies, without a last report. The next request starts another one in its place. */
  kill(place: string): void {
    const running = this.#running.get(place);
    if (running) this.killed.push({ isolate: running.name, at: this.now });
    this.#running.delete(place);
  }

  /** `place`: the PoP and the number of the isolate, as in `fra/1`. */
  async send(
    place: string,
    path: string,
    fields: Record<string, string> = {},
    clientAddress: string | null = null,
  ): Promise<Witnessed> {
    const startedAt = this.now;
    const { name, isolate } = this.#isolateAt(place);
    const answer = await this.#ask(isolate, path, fields, clientAddress);
    const tookMs = this.#answeredAt - startedAt;
    const bodyBytes = (await answer.arrayBuffer()).byteLength;
    await this.#finishWork();
    const witnessed: Witnessed = {
      isolate: name,
      pop: place.split("/")[0]!,
      at: startedAt,
      xCache: answer.headers.get("x-cache"),
      status: answer.status,
      cacheStatus: answer.headers.get("cache-status") ?? "",
      path,
      bodyBytes,
      tookMs,
    };
    this.witnessed.push(witnessed);
    return witnessed;
  }

  async stats(query = ""): Promise<SiteStats> {
    return (await this.#control(`stats${query}`)).json() as Promise<SiteStats>;
  }

  async isolateStats(place: string): Promise<IsolateStats> {
    const answer = await this.#ask(this.#isolateAt(place).isolate, "/_tidemark/stats?scope=isolate", BEARER);
    return answer.json() as Promise<IsolateStats>;
  }

  purges(path = ""): Promise<Response> {
    return this.#control(`purges${path}`);
  }

  metrics(accept: string): Promise<Response> {
    return this.#control("metrics", { accept });
  }

  /** Lets a minute pass, and everybody report. */
  async reportAll(): Promise<void> {
    this.now += 61_000;
    for (const { isolate } of this.#running.values()) {
      isolate.reportIfDue({ run: (work) => void this.#work.push(work) });
      await this.#finishWork();
    }
  }

  /** Everybody ends and says so. */
  async endAll(): Promise<void> {
    for (const { isolate } of this.#running.values()) await isolate.reportLast();
  }

  takesMs(least: number, most: number): number {
    return Math.floor(least + this.random() * (most - least + 1));
  }

  async #control(path: string, fields: Record<string, string> = {}): Promise<Response> {
    const [first] = this.#running.values();
    return this.#ask(first!.isolate, `/_tidemark/${path}`, { ...BEARER, ...fields });
  }

  async #ask(
    isolate: LearningIsolate,
    path: string,
    fields: Record<string, string>,
    clientAddress: string | null = null,
  ): Promise<Response> {
    const url = `http://${HOST}${path}`;
    const background = { run: (work: Promise<unknown>) => void this.#work.push(work) };
    const request = new Request(url, { headers: fields });
    const answer = isolate.fetch({ request, url, background, clientAddress });
    this.#answeredAt = this.now;
    if (!(answer instanceof Promise)) return toWebResponse(answer);
    const awaited = await answer.finally(() => {
      this.#answeredAt = this.now;
    });
    return toWebResponse(awaited);
  }

  async #read(log: LedgerClient, asked: Parameters<ReadLedger>): Promise<string> {
    if (!this.asksIsolates) return log.readLedger(...asked);
    for (const { isolate } of this.#running.values()) await isolate.reportNow();
    return JSON.stringify({ ...JSON.parse(await log.readLedger(...asked)), isCurrent: true });
  }

  async #finishWork(): Promise<void> {
    while (this.#work.length > 0) await Promise.all(this.#work.splice(0));
  }

  #isolateAt(place: string): RunningReplay {
    const running = this.#running.get(place);
    if (running) return running;
    const pop = place.split("/")[0]!;
    const name = `${place} ${this.killed.length}`;
    const tier = this.#tiers.get(pop) ?? new Map<string, Stored>();
    this.#tiers.set(pop, tier);
    const log = this.#logFor(name);
    const site = compileSite({ origin: ORIGIN, hosts: [HOST], ...this.#world.site }, {});
    const now = () => this.now + (this.#skewMs[pop] ?? 0);
    const isolate = startLearningIsolate(site, {
      clock: { now, wait: () => ({ over: new Promise(() => undefined), cancel: () => undefined }) },
      random: this.random,
      sharedTier: {
        get: async (key) => {
          await this.#passes(this.takesMs(1, 9));
          return tier.get(key);
        },
        put: async (stored) => void tier.set(stored.head.key, stored),
        delete: async (key) => void tier.delete(key),
        getBody: async () => undefined,
        putBody: async () => undefined,
      },
      notes: { read: async () => null, write: async () => undefined },
      origin: { url: ORIGIN, fetch: (request) => this.#originAnswers(request) },
      log,
      ledger: { client: log, isolate: name, pop, read: (_, ...asked) => this.#read(log, asked) },
      audit: log,
      bodies: memoryBodies,
      control: (...of) => startControl(...of, ({ request }) => request as Request),
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "allowed", name: "test" }) },
      reporter: new Counters(ORIGIN, (line) => this.lines.push(line)),
    });
    const made = { name, isolate };
    this.#running.set(place, made);
    return made;
  }

  #logFor(isolate: string): PurgeLogClient & LedgerClient & PurgeAudit {
    const call = async <T>(work: () => T): Promise<T> => {
      await this.#passes(this.takesMs(1, 40));
      if (this.fate === "is silent") throw new Error("silent");
      const result = work();
      if (this.fate === "loses the answer") throw new Error("lost");
      return result;
    };
    const take = (text: string) => {
      this.#ledger.take(text);
      const { number, counts, agoMs } = JSON.parse(text) as Report;
      const held = this.heard.get(isolate) ?? { requests: 0, until: 0, number: 0 };
      if (number <= held.number) return;
      const requests = held.requests + ((counts.requests as number | undefined) ?? 0);
      this.heard.set(isolate, { requests, until: this.now - agoMs, number });
    };
    return {
      read: (since, leaseMs, longestViewAgeMs, report) =>
        call(() => {
          if (report !== undefined) take(report);
          return this.#log.read(since, leaseMs, longestViewAgeMs);
        }),
      append: (purge) => call(() => this.#log.append(purge)),
      list: (before, limit) => call(() => this.#log.list(before, limit)),
      find: (seq) => call(() => this.#log.find(seq)),
      report: (report) => call(() => take(report)),
      readLedger: (lastMs, pop) => call(() => JSON.stringify(this.#ledger.read(lastMs, pop))),
      findUnseen: (keys) => call(() => this.#ledger.unseen(keys)),
    };
  }

  /** Resolves after so much time. Time passes only when nothing else can happen, so that no answer seems late. */
  #passes(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ until: this.now + ms, resolve });
    if (this.#waiting.length === 1) void this.#letTimePass();
    return promise;
  }

  async #letTimePass(): Promise<void> {
    while (this.#waiting.length > 0) {
      for (let turn = 0; turn < 100; turn++) await null;
      const next = this.#waiting.reduce((first, each) => (each.until < first.until ? each : first));
      this.now = Math.max(this.now, next.until);
      next.resolve();
      // The next one waits until all that this one has set going is done.
      for (let turn = 0; turn < 100; turn++) await null;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
    }
  }

  async #originAnswers(request: OriginRequest): Promise<OriginAnswer> {
    this.asked.push(request);
    await this.#passes(this.takesMs(...(this.#world.originMs ?? [5, 900])));
    const path = request.pathAndQuery.split("?")[0]!;
    if (path.startsWith("/down")) {
      this.originFailures++;
      return { kind: "failed", because: "unreachable", cause: new Error("refused") };
    }
    const { fields, body } = this.#world.answer(request, this.random);
    this.originBytes += body.length;
    const headers = { date: new Date(this.now).toUTCString(), "content-type": "text/plain", ...fields };
    return { kind: "answered", response: fromWebResponse(new Response(body, { headers })) };
  }
}

const ORIGIN = "http://origin.test";

/** Pages of all kinds. */
const KINDS: ReplayWorld = {
  site: { routes: [{ match: "/api/*" }, { match: "/pages/*" }, { match: "/pass/*", pass: true }] },
  answer: ({ pathAndQuery }) => {
    const path = pathAndQuery.split("?")[0]!;
    const body = `${path} `.repeat(1 + (path.length % 7));
    const lifetime = LIFETIMES.find(([prefix]) => path.startsWith(prefix))?.[1] ?? "max-age=300";
    const framing: Record<string, string> = path.startsWith("/chunked")
      ? { "transfer-encoding": "chunked" }
      : { "content-length": String(body.length) };
    return { fields: { "cache-control": lifetime, ...framing }, body };
  },
};

const LIFETIMES = [
  ["/private", "private, max-age=300"],
  ["/no-store", "no-store"],
  ["/swr", "max-age=10, stale-while-revalidate=60"],
  ["/short", "max-age=5"],
] as const;

/** The stats of ten requests to one PoP, of which six came from the cache. */
export async function statsOfTenRequests(): Promise<SiteStats> {
  const replay = new Replay(5);
  for (let page = 0; page < 10; page++) await replay.send("fra/0", `/pages/${page % 4}`);
  await replay.reportAll();
  return replay.stats();
}
