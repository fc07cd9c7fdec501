import { DatabaseSync } from "node:sqlite";
import { Counters } from "../../worker/edge/counters.ts";
import type { SharedTier } from "../../worker/edge/tiers.ts";
import { type RunningIsolate, startIsolate } from "../../worker/isolate.ts";
import type { EdgeEvent, Origin, OriginAnswer, OriginRequest } from "../../worker/ports.ts";
import { Log } from "../../worker/purges/log.ts";
import type { PurgeLogClient } from "../../worker/purges/log-contract.ts";
import { compileSite } from "../../worker/site.ts";
import { memoryBodies } from "../engine/memory-bodies.ts";
import { sqlOf } from "../engine/memory-log.ts";
import { MemorySharedTier } from "../engine/memory-shared-tier.ts";
import { BEGINNING, HOST, TOKEN } from "../engine/scenario.ts";
import { Scheduler } from "../engine/scheduler.ts";
import { type Fetched, History, type Purged } from "./history.ts";

/** How often each race and fault really happened. Silence means something only where none of these is zero. */
export type Occurrences = Record<(typeof OCCURRENCES)[number], number>;

export const OCCURRENCES = [
  "hits",
  "fills crossed by a purge",
  "collapsed requests",
  "answers from before a purge that had not settled",
  "failed reads of the log",
  "lost replies of the log",
  "isolates that died",
  "bodies cut off",
  "origin failures",
  "tokens honoured",
  "hits while the log was silent",
] as const;

const PATHS = ["/a", "/b", "/plog/c"];
const TAGS = ["t1", "t2"];
const SKEW_MS = 250;
const ISOLATES_PER_POP = 2;
/** Longer than any fetch, lease or wait in this world: after it everything has come to rest. */
const REST_MS = 60_000;

interface SimulatedIsolate {
  readonly name: string;
  readonly running: RunningIsolate;
}

/** Two PoPs with two isolates each, their log and their origin, under one seed that decides everything that happens. */
export class World {
  readonly history = new History();
  readonly story: string[] = [];
  readonly occurred = Object.fromEntries(OCCURRENCES.map((name) => [name, 0])) as Occurrences;
  readonly bugs: string[] = [];
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  readonly #orderOfPurge = new Map<number, number>();
  readonly #tiers: readonly SharedTier[];
  /** PoPs' clocks may differ by any amount, those of one PoP only within the allowance. */
  readonly #popSkewMs: readonly number[];
  readonly #isolates: SimulatedIsolate[][] = [[], []];
  #order = 0;
  #requests = 0;
  #isLogReachable = true;

  constructor(seed: number) {
    this.#scheduler = new Scheduler(seed, BEGINNING);
    const sql = sqlOf(new DatabaseSync(":memory:"));
    const settings = { replyKeys: 50, heldKeys: 1000, auditMs: 1e9 };
    this.#log = new Log(
      sql,
      settings,
      () => this.#scheduler.now(),
      () => "log",
    );
    this.#tiers = [0, 1].map(() => this.#lateTier());
    this.#popSkewMs = [0, (this.#random() - 0.5) * 2 * 3_600_000];
    for (const pop of [0, 1]) for (let index = 0; index < ISOLATES_PER_POP; index++) this.#startIsolate(pop, index);
  }

  /** Runs so many steps, and then until nothing is left that could happen. */
  async run(steps: number): Promise<void> {
    const underWay: Promise<void>[] = [];
    for (let step = 0; step < steps; step++) {
      underWay.push(this.#step());
      await this.#scheduler.advance(Math.floor(this.#random() * 400));
    }
    this.#isLogReachable = true;
    await this.#scheduler.advance(REST_MS);
    await this.#scheduler.settle(Promise.all(underWay));
  }

  async #step(): Promise<void> {
    const drawn = this.#random();
    if (drawn < 0.78) return this.#request();
    if (drawn < 0.9) return this.#purge();
    if (drawn < 0.95) return this.#replaceIsolate();
    this.#isLogReachable = !this.#isLogReachable;
    this.#tell(`the log is ${this.#isLogReachable ? "reachable" : "silent"}`);
  }

  async #request(): Promise<void> {
    const isolate = this.#anyIsolate();
    const path = this.#pick(PATHS);
    const identity = this.#pick([null, null, null, "cookie:1", "cookie:2", "authorization:1"]);
    const after = this.#random() < 0.2 ? (this.history.purges.at(-1) ?? null) : null;
    const name = `request ${++this.#requests} for ${path} at ${isolate.name}`;
    const arrivedAt = this.#scheduler.now();
    const wasSilent = !this.#isLogReachable;
    const fields = new Headers();
    if (identity?.startsWith("cookie")) fields.set("cookie", `session=${identity}`);
    if (identity?.startsWith("authorization")) fields.set("authorization", `Basic ${identity}`);
    if (after) fields.set("tidemark-after", after.token);
    this.#tell(`${name} arrives${identity ? ` from ${identity}` : ""}${after ? ` with token ${after.token}` : ""}`);
    const response = await this.#send(isolate, new Request(`http://${HOST}${path}`, { headers: fields }));
    const body = await response.text().catch(() => null);
    const number = body === null ? undefined : /^fetch (\d+) whole$/.exec(body)?.[1];
    const xCache = response.headers.get("x-cache");
    if (number === undefined) return this.#tell(`${name} fails: ${response.status}`);
    const fetched = this.history.fetches[Number(number)]!;
    this.#tell(`${name} gets fetch ${number}, ${xCache}`);
    this.history.answers.push({ request: name, arrivedAt, identity, after, fetched });
    if (xCache === "HIT") this.occurred.hits++;
    if (xCache === "HIT" && wasSilent) this.occurred["hits while the log was silent"]++;
    if (after) this.occurred["tokens honoured"]++;
    if (this.history.purges.some((purge) => purge.matches(fetched) && fetched.order < purge.order)) {
      this.occurred["answers from before a purge that had not settled"]++;
    }
  }

  async #purge(): Promise<void> {
    const isolate = this.#anyIsolate();
    const [body, matches] = this.#pick<readonly [object, Purged["matches"]]>([
      [{ urls: ["/a"] }, ({ target }) => target === "/a"],
      [{ urls: [`https://${HOST}/b`] }, ({ target }) => target === "/b"],
      [{ tags: ["t1"] }, ({ tags }) => tags.includes("t1")],
      [{ tags: ["plog:c"] }, ({ target }) => target === "/plog/c"],
      [{ tags: ["unrelated"] }, () => false],
      [{ everything: true }, () => true],
    ]);
    const fields = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const init = { method: "POST", headers: fields, body: JSON.stringify(body) };
    const response = await this.#send(isolate, new Request(`http://${HOST}/_tidemark/purge`, init));
    const receipt = (await response.json()) as { seq: number; token: string; settlesInMs: number };
    if (response.status !== 200) return this.#tell(`a purge at ${isolate.name} fails: ${response.status}`);
    this.#tell(`purge ${JSON.stringify(body)} at ${isolate.name} is acknowledged as ${receipt.token}`);
    const settledAt = this.#scheduler.now() + receipt.settlesInMs;
    this.history.purges.push({ token: receipt.token, order: this.#orderOfPurge.get(receipt.seq)!, settledAt, matches });
  }

  /** An isolate dies and another takes its place. What it had under way goes on, as late writes do. */
  async #replaceIsolate(): Promise<void> {
    const pop = Math.floor(this.#random() * 2);
    const index = Math.floor(this.#random() * ISOLATES_PER_POP);
    this.occurred["isolates that died"]++;
    this.#tell(`isolate ${this.#isolates[pop]![index]!.name} dies`);
    this.#startIsolate(pop, index);
  }

  #startIsolate(pop: number, index: number): void {
    const offsetMs = this.#popSkewMs[pop]! + this.#random() * (SKEW_MS - 10);
    const reporter = new Counters("http://origin.internal", () => undefined);
    const report = (event: EdgeEvent) => {
      if (event.kind === "failed") this.bugs.push(String((event.cause as Error).stack));
      if (event.kind === "fill-discarded" && event.because === "purged") this.occurred["fills crossed by a purge"]++;
      if (event.kind === "collapsed") this.occurred["collapsed requests"]++;
      if (event.kind === "body-cut-off") this.occurred["bodies cut off"]++;
      if (event.kind === "log-failed") this.occurred["failed reads of the log"]++;
      if (event.kind === "origin-failed") this.occurred["origin failures"]++;
    };
    const site = { origin: "http://origin.internal", hosts: [HOST], purge: { leaseMs: 1000, skewMs: SKEW_MS } };
    const routes = [{ match: "/plog/:slug", ttl: 600, tags: ["plog:{slug}"] }];
    const running = startIsolate(compileSite({ ...site, routes }, {}), {
      clock: { now: () => Math.floor(this.#scheduler.now() + offsetMs), wait: (ms) => this.#scheduler.wait(ms) },
      random: () => this.#random(),
      sharedTier: this.#tiers[pop]!,
      origin: this.#origin(),
      log: this.#lateLog(),
      bodies: memoryBodies,
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "allowed", name: "simulation" }) },
      reporter: Object.assign(reporter, { report }),
    });
    this.#isolates[pop]![index] = { name: `${"AB"[pop]}${index}.${this.#order++}`, running };
  }

  async #send({ running }: SimulatedIsolate, request: Request): Promise<Response> {
    const behind = { run: (work: Promise<unknown>) => void work.catch((cause) => this.bugs.push(String(cause))) };
    return running.fetch({ request, url: request.url, behind, clientAddress: null });
  }

  /** An origin that numbers its answers, is slow, fails, cuts off, and says now this and now that about sharing. */
  #origin(): Origin {
    return { url: "http://origin.internal", fetch: (request) => this.#fetch(request) };
  }

  async #fetch({ pathAndQuery, fields }: OriginRequest): Promise<OriginAnswer> {
    const sent = new Map(fields);
    const number = this.history.fetches.length;
    const [cacheControl, audience] = this.#pick([
      ["max-age=600", "unsaid"],
      ["max-age=600", "unsaid"],
      ["max-age=600, public", "all"],
      ["s-maxage=600", "all"],
      ["private, max-age=600", "one"],
      ["no-store", "one"],
      ["max-age=600, s-maxage=0", "unsaid"],
    ] as const);
    const tags = this.#random() < 0.6 ? [this.#pick(TAGS)] : [];
    const cookie = sent.get("cookie")?.replace("session=", "");
    const identity = cookie ?? sent.get("authorization")?.replace("Basic ", "") ?? null;
    const fetched: Fetched = { number, order: this.#order++, target: pathAndQuery, tags, identity, audience };
    this.history.fetches.push(fetched);
    this.#tell(`fetch ${number} of ${pathAndQuery} begins (${cacheControl}; ${tags})`);
    await this.#delay(this.#pick([10, 200, 3000]));
    if (this.#random() < 0.04) return { kind: "failed", because: "unreachable", cause: "simulated" };
    const text = `fetch ${number} whole`;
    const headers = {
      "cache-control": cacheControl,
      "cache-tag": tags.join(","),
      "content-length": String(text.length),
    };
    return { kind: "answered", response: new Response(this.#bodyOf(text), { headers }) };
  }

  #bodyOf(text: string): ReadableStream<Uint8Array> {
    const isCut = this.#random() < 0.05;
    const isSlow = this.#random() < 0.3;
    const bytes = new TextEncoder().encode(text);
    return new ReadableStream<Uint8Array>({
      start: async (controller) => {
        controller.enqueue(bytes.slice(0, 5));
        if (isSlow) await this.#delay(2000);
        if (isCut) return controller.error(new Error("cut off"));
        controller.enqueue(bytes.slice(5));
        controller.close();
      },
    });
  }

  /** The log over a network: late both ways, silent for a while, and sometimes its reply is lost. */
  #lateLog(): PurgeLogClient {
    const call = async <T>(work: () => T): Promise<T> => {
      await this.#delay(120);
      if (!this.#isLogReachable) throw new Error("silent");
      const reply = work();
      await this.#delay(this.#pick([50, 50, 50, 1500]));
      if (this.#random() < 0.05) {
        this.occurred["lost replies of the log"]++;
        throw new Error("lost");
      }
      return structuredClone(reply);
    };
    return {
      read: (since, leaseMs) => call(() => this.#log.read(since, leaseMs)),
      append: (purge) =>
        call(() => {
          const result = this.#log.append(purge);
          if (result.kind === "appended") this.#orderOfPurge.set(result.seq, this.#order++);
          return result;
        }),
    };
  }

  /** A shared tier that is slow, forgets, fails, and lands its puts late. */
  #lateTier(): SharedTier {
    const tier = new MemorySharedTier(this.#scheduler, { lostPuts: 0.1, evictions: 0.05 });
    return {
      get: async (key) => {
        await this.#delay(60);
        if (this.#random() < 0.02) throw new Error("the tier fails");
        return tier.get(key);
      },
      put: async (stored) => {
        await this.#delay(this.#pick([10, 2500]));
        return tier.put(stored);
      },
      delete: async (key) => {
        await this.#delay(10);
        return tier.delete(key);
      },
      getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
      putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
    };
  }

  async #delay(mostMs: number): Promise<void> {
    await this.#scheduler.wait(Math.floor(this.#random() * mostMs)).over;
  }

  #anyIsolate(): SimulatedIsolate {
    return this.#pick(this.#isolates.flat());
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)]!;
  }

  #random(): number {
    return this.#scheduler.random();
  }

  #tell(words: string): void {
    this.story.push(`${String(this.#scheduler.now() - BEGINNING).padStart(7)} ms  ${words}`);
  }
}
