import { Counters } from "../../worker/edge/counters.ts";
import type { SharedTier } from "../../worker/edge/tiers.ts";
import { type RunningIsolate, startIsolate } from "../../worker/isolate.ts";
import type { EdgeEvent } from "../../worker/ports.ts";
import { compileSite } from "../../worker/site.ts";
import { memoryBodies } from "../engine/memory-bodies.ts";
import { MemorySharedTier } from "../engine/memory-shared-tier.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { Fate, type Occurrences } from "./fate.ts";
import { type Answered, FROM_STORE, History, type Page, type Purged } from "./history.ts";
import { LateLog, type Told } from "./late-log.ts";
import { LateNotes } from "./late-notes.ts";
import { languageOf, PATHS, RandomOrigin, ROUTE, TAGS } from "./random-origin.ts";

const LEASE_MS = 1000;
const SKEW_MS = 250;
const ISOLATES_PER_POP = 2;
/** Longer than any fetch, lease or wait in this world: after it everything has come to rest. */
const REST_MS = 60_000;

interface SimulatedIsolate {
  readonly name: string;
  readonly running: RunningIsolate;
  readonly told: Told;
}

/** Two PoPs with two isolates each, their log and their origin, under one seed that decides everything that happens. */
export class World {
  readonly history: History;
  readonly bugs: string[] = [];
  readonly #fate: Fate;
  readonly #log: LateLog;
  readonly #origin: RandomOrigin;
  readonly #staleWhileSilent: boolean;
  readonly #tiers: readonly SharedTier[];
  readonly #notes: readonly LateNotes[];
  /** PoPs' clocks may differ by any amount, those of one PoP only within the allowance. */
  readonly #popSkewMs: readonly number[];
  readonly #isolates: SimulatedIsolate[][] = [[], []];
  #requests = 0;

  constructor(seed: number) {
    this.#staleWhileSilent = seed % 2 === 0;
    this.history = new History({ leaseMs: LEASE_MS, skewMs: SKEW_MS, staleWhileSilent: this.#staleWhileSilent });
    this.#fate = new Fate(seed, this.history);
    this.#log = new LateLog(this.#fate);
    this.#origin = new RandomOrigin(this.#fate);
    this.#tiers = [0, 1].map(() => this.#lateTier());
    this.#notes = [0, 1].map(() => new LateNotes(this.#fate, SKEW_MS));
    this.#popSkewMs = [0, (this.#fate.random() - 0.5) * 2 * 3_600_000];
    for (const pop of [0, 1]) for (let index = 0; index < ISOLATES_PER_POP; index++) this.#startIsolate(pop, index);
  }

  get story(): readonly string[] {
    return this.#fate.story;
  }

  get occurred(): Occurrences {
    return this.#fate.occurred;
  }

  /** Runs so many steps, and then until nothing is left that could happen. */
  async run(steps: number): Promise<void> {
    const { scheduler } = this.#fate;
    const underWay: Promise<void>[] = [];
    for (let step = 0; step < steps; step++) {
      underWay.push(this.#step());
      await scheduler.advance(Math.floor(this.#fate.random() * 400));
    }
    this.#log.isReachable = true;
    await scheduler.advance(REST_MS);
    await scheduler.settle(Promise.all(underWay));
  }

  async #step(): Promise<void> {
    const fate = this.#fate;
    const drawn = fate.random();
    if (drawn < 0.72) return this.#get(fate.pick(PATHS), fate.random() < 0.2 ? this.#latestPurge() : null);
    if (drawn < 0.78) return this.#head(fate.pick(PATHS));
    if (drawn < 0.87) return this.#purge();
    if (drawn < 0.91) return this.#post(this.#anyIsolate(), fate.pick(PATHS));
    if (drawn < 0.94) return this.#replaceIsolate();
    if (drawn < 0.96) {
      this.#origin.failFor(fate.pick([200, 3000]));
      return fate.tell("the origin fails for a while");
    }
    this.#log.isReachable = !this.#log.isReachable;
    fate.tell(`the log is ${this.#log.isReachable ? "reachable" : "silent"}`);
  }

  /** A visitor; with the token of a purge, if there is one. */
  async #get(path: string, after: Purged | null): Promise<void> {
    const fate = this.#fate;
    const isolate = this.#anyIsolate();
    const identity = fate.pick([...[null, null, null, null, null], "cookie:1", "cookie:2", "authorization:1"]);
    const language = fate.pick(["", "de", "en"]);
    const name = `request ${++this.#requests} for ${path} at ${isolate.name}`;
    const arrivedAt = fate.now();
    const atArrival = { ...isolate.told };
    const fields = new Headers();
    if (identity?.startsWith("cookie")) fields.set("cookie", `session=${identity}`);
    if (identity?.startsWith("authorization")) fields.set("authorization", `Basic ${identity}`);
    if (language) fields.set("accept-language", language);
    if (after) fields.set("tidemark-after", `log.${after.seq}`);
    fate.tell(`${name} arrives from ${identity} in "${language}"${after ? ` with the token of ${after.name}` : ""}`);
    const response = await this.#send(isolate, path, { headers: fields });
    const xCache = response.headers.get("x-cache");
    const heard = FROM_STORE.includes(xCache) ? isolate.told.heard : atArrival.heard;
    const { knewUntil } = isolate.told;
    const body = await response.text().catch(() => "");
    const number = /^fetch +(\d+) whole$/.exec(body)?.[1];
    if (number === undefined) return fate.tell(`${name} fails: ${response.status}`);
    const validation = response.headers.get("x-validation");
    const fetched = this.history.fetches.get(Number(number))!;
    const confirmed = validation === null ? fetched : this.history.fetches.get(Number(validation))!;
    fate.tell(`${name} gets fetch ${number}${validation ? `, confirmed by ${validation}` : ""}: ${xCache}`);
    const by = { request: name, arrivedAt, xCache, identity, language: languageOf(language), after };
    this.#record({ ...by, fetched, confirmed, heard, knewUntil });
  }

  #record(answer: Answered): void {
    const fate = this.#fate;
    this.history.answers.push(answer);
    const { xCache, after, arrivedAt, fetched, confirmed, knewUntil } = answer;
    const isFromBefore = (purge: Purged) => purge.matches(fetched) && confirmed.order < purge.order;
    fate.count("hits", xCache === "HIT");
    fate.count("hits while the log was silent", xCache === "HIT" && arrivedAt > knewUntil);
    fate.count("tokens honoured", after !== null);
    fate.count("answers from before a purge that had not settled", this.history.purges.some(isFromBefore));
    fate.count("hits of validated pages", xCache === "HIT" && fetched !== confirmed);
    fate.count("hits of a variant", xCache === "HIT" && fetched.language !== null);
    fate.count("stale pages while they were fetched anew", xCache === "UPDATING");
    fate.count("stale pages for a failed origin", xCache === "STALE");
    fate.count("stale pages while log and origin were down", xCache === "STALE" && arrivedAt > knewUntil);
  }

  /** A HEAD shows nothing that could be wrong, but may freshen what is stored, or end it. */
  async #head(path: string): Promise<void> {
    const isolate = this.#anyIsolate();
    this.#fate.tell(`HEAD ${++this.#requests} of ${path} arrives at ${isolate.name}`);
    await this.#send(isolate, path, { method: "HEAD" });
  }

  /** An unsafe request: the origin changes the page, and perhaps another one that its answer names. Some come in pairs. */
  async #post(isolate: SimulatedIsolate, path: string): Promise<void> {
    const fate = this.#fate;
    const name = `POST ${++this.#requests} to ${path} at ${isolate.name}`;
    fate.tell(`${name} arrives`);
    const response = await this.#send(isolate, path, { method: "POST", body: "new" });
    await response.text();
    fate.tell(`${name} is answered: ${response.status}`);
    if (fate.random() < 0.7) return;
    await fate.delay(800);
    return this.#post(isolate, path);
  }

  async #purge(): Promise<void> {
    const fate = this.#fate;
    const isolate = this.#anyIsolate();
    if (fate.random() < 0.3) this.#origin.edit(fate.pick(PATHS));
    const [body, matches] = fate.pick<readonly [object, Purged["matches"]]>([
      [{ urls: ["/a"] }, ({ target }) => target === "/a"],
      [{ urls: [`https://${HOST}/b`] }, ({ target }) => target === "/b"],
      ...TAGS.map((tag) => [{ tags: [tag] }, ({ tags }: Page) => tags.includes(tag)] as const),
      [{ tags: ["plog:c"] }, ({ target }) => target === "/plog/c"],
      [{ tags: ["unrelated"] }, () => false],
      [{ everything: true }, () => true],
    ]);
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await this.#send(isolate, "/_tidemark/purge", init);
    if (response.status !== 200) return fate.tell(`a purge at ${isolate.name} fails: ${response.status}`);
    const { seq, settlesInMs } = (await response.json()) as { seq: number; settlesInMs: number };
    fate.tell(`purge ${seq} of ${JSON.stringify(body)} is acknowledged at ${isolate.name}`);
    const [order, settledAt] = [this.#log.orderOf(seq), fate.now() + settlesInMs];
    const purged: Purged = { name: `purge ${seq}`, kind: "purge", seq, order, settledAt, matches };
    this.history.purges.push(purged);
    // Who has sent it looks at once, in two places, at a page that he has purged.
    const seen = this.history.answers.findLast(({ fetched }) => matches(fetched));
    if (seen) await Promise.all([1, 2].map(() => this.#get(seen.fetched.target, purged)));
  }

  #latestPurge(): Purged | null {
    return this.history.purges.findLast(({ kind }) => kind === "purge") ?? null;
  }

  /** An isolate dies and another takes its place. What it had under way goes on, as late writes do. */
  async #replaceIsolate(): Promise<void> {
    const pop = Math.floor(this.#fate.random() * 2);
    const index = Math.floor(this.#fate.random() * ISOLATES_PER_POP);
    this.#fate.count("isolates that died");
    this.#fate.tell(`isolate ${this.#isolates[pop]![index]!.name} dies`);
    this.#startIsolate(pop, index);
  }

  #startIsolate(pop: number, index: number): void {
    const fate = this.#fate;
    const offsetMs = this.#popSkewMs[pop]! + fate.random() * (SKEW_MS - 10);
    const name = `${"AB"[pop]}${index}.${fate.nextOrder()}`;
    const told: Told = { heard: 0, knewUntil: Number.NEGATIVE_INFINITY };
    const site = {
      origin: "http://origin.internal",
      hosts: [HOST],
      routes: [ROUTE],
      purge: { leaseMs: LEASE_MS, skewMs: SKEW_MS },
      stale: { ifErrorWhileLogSilent: this.#staleWhileSilent },
    };
    const notes = this.#notes[pop]!.reachedBy(told);
    const reporter = new Counters("http://origin.internal", () => undefined);
    const running = startIsolate(compileSite(site, {}), {
      clock: { now: () => Math.floor(fate.now() + offsetMs), wait: (ms) => fate.scheduler.wait(ms) },
      random: () => fate.random(),
      sharedTier: this.#tiers[pop]!,
      notes,
      origin: this.#origin.seenFrom(name),
      log: this.#log.reachedBy(told),
      audit: { list: async () => ({ purges: [], next: null }), one: async () => null },
      bodies: memoryBodies,
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "allowed", name: "simulation" }) },
      reporter: Object.assign(reporter, {
        report: (event: EdgeEvent) => {
          if (event.kind === "view-shared") notes.taken();
          this.#notice(event, name);
        },
      }),
    });
    this.#isolates[pop]![index] = { name, running, told };
  }

  #notice(event: EdgeEvent, isolate: string): void {
    const fate = this.#fate;
    if (event.kind === "failed") this.bugs.push(String((event.cause as Error).stack));
    if (event.kind === "invalidation-dropped") this.history.gaveUp.add(isolate);
    fate.count("fills crossed by a purge", event.kind === "fill-discarded" && event.because === "purged");
    fate.count("collapsed requests", event.kind === "collapsed");
    fate.count("bodies cut off", event.kind === "body-cut-off");
    fate.count("failed reads of the log", event.kind === "log-failed");
    fate.count("views taken from another isolate of the PoP", event.kind === "view-shared");
    fate.count("origin failures", event.kind === "origin-failed");
  }

  async #send({ running }: SimulatedIsolate, path: string, init: RequestInit): Promise<Response> {
    const behind = { run: (work: Promise<unknown>) => void work.catch((cause) => this.bugs.push(String(cause))) };
    const request = new Request(`http://${HOST}${path}`, init);
    return running.fetch({ request, url: request.url, behind, clientAddress: null });
  }

  /** A shared tier that is slow, forgets, fails, and lands its puts late. */
  #lateTier(): SharedTier {
    const fate = this.#fate;
    const tier = new MemorySharedTier(fate.scheduler, { lostPuts: 0.1, evictions: 0.05 });
    return {
      get: async (key) => {
        await fate.delay(60);
        if (fate.random() < 0.02) throw new Error("the tier fails");
        return tier.get(key);
      },
      put: async (stored) => {
        await fate.delay(fate.pick([10, 2500]));
        return tier.put(stored);
      },
      delete: async (key) => {
        await fate.delay(10);
        return tier.delete(key);
      },
      getBody: (bodyKey, part) => tier.getBody(bodyKey, part),
      putBody: (bodyKey, body) => tier.putBody(bodyKey, body),
    };
  }

  #anyIsolate(): SimulatedIsolate {
    return this.#fate.pick(this.#isolates.flat());
  }
}
