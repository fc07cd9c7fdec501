import { nodeBodies } from "../../server/bodies/node-bodies.ts";
import { NearInvalidations } from "../../server/log/near-invalidations.ts";
import { KnownNeighbours } from "../../worker/isolate.ts";
import { startControl } from "../../worker/isolate-control.ts";
import { startLearningIsolate } from "../../worker/learning-isolate.ts";
import { Counters } from "../../worker/metrics/counters.ts";
import type { EdgeEvent } from "../../worker/ports/reporter.ts";
import type { Sql } from "../../worker/purges/log/sql.ts";
import { compileSite, type Site } from "../../worker/site/site.ts";
import { Storages } from "../engine/memory/storages.ts";
import { HOST } from "../engine/scenario.ts";
import { Backend, EVERYTHING, UNRELATED } from "./backend.ts";
import type { Around } from "./calm/around.ts";
import { CALM_STEPS, calmStep } from "./calm/calm-world.ts";
import { Fate } from "./fate.ts";
import { History, type Purged } from "./history.ts";
import { Holdings } from "./holdings.ts";
import { LateFetches } from "./late-fetches.ts";
import { LateLog, type Pushing, type Reader } from "./log/late-log.ts";
import { LateNotes } from "./log/late-notes.ts";
import { LateTier } from "./log/late-tier.ts";
import { Told } from "./log/told.ts";
import type { Occurrences } from "./occurrences.ts";
import { type Bounds, type BrokenPromise, brokenPromises, untoldChanges } from "./promises.ts";
import { PATHS, RandomOrigin, ROUTE } from "./random-origin.ts";
import { SimulatedIsolate } from "./simulated-isolate.ts";
import { simulatedParent } from "./simulated-parent.ts";
import { Visitors } from "./visitors.ts";

const LEASE_MS = 1000;
const SKEW_MS = 250;
const SOFT_FOR_MS = 1000;
/** How late a purge may reach one route of some worlds. */
const MAX_VIEW_AGE_MS = 3000;
const POPS = [0, 1] as const;
const ISOLATES = [0, 1] as const;
/** After its last step, a world looks so often whether everything has ended. Milliseconds. */
const LOOK_EVERY_MS = 1000;
/** Longer than any fetch, lease or wait in this world. */
const MAX_REST_MS = 200_000;
/** In one of so many worlds, the log pushes to the workers of servers, in three others over connections. */
const PUSHES_IN = 5;
/** In one of so many worlds, which is one with connections, the log takes as many as there are isolates and no more. */
const CROWDED_IN = 3 * PUSHES_IN;
/** In one of so many worlds, which is one with connections, the numbers of the log soon run out. */
const NUMBERED_LOW_IN = 3 * PUSHES_IN;
/** The highest number there. */
const MAX_LOW_SEQ = 3;
/**
 * Two of eleven worlds, which have connections, are calm: one thing happens at a time, so that purges settle by
 * confirmations, and what a single isolate does shows. That is twelve of their faults for each nine other worlds.
 */
const isCalmWorld = (seed: number) => seed % 10 === 6 || (seed % 10 === 8 && seed % 11 > 1);
/** In one of so many worlds, the isolates of one PoP are the parents of those of the other. */
const PARENT_IN = 4;
const [PARENTS_POP, CHILDREN_POP] = POPS;
/** The share of isolates in such a world that are of a version that keeps no connection. */
const WITHOUT_CONNECTION = 0.1;
/** The same of those that do not reach the log as they start. */
const CUT_OFF_WITHOUT_CONNECTION = 0.5;
/** The number of steps of a world, and the most time between two of them, in milliseconds. */
export const STEPS = 28;
const STEP_MS = 300;

/** In so many of seven worlds, the isolates of a PoP know each other's fetches, as the workers of a server do. */
const SHARING_IN_SEVEN = 3;

/** How an isolate starts, if that is not left to chance. */
interface Start {
  /** The probability that it is of a version that keeps no connection. */
  readonly withoutConnection?: number;
}

/** How many requests the origin takes at a time and how long others wait, in milliseconds; and what bodies may hold. */
interface Strain {
  readonly origin: { readonly concurrency: number; readonly queue: { readonly maxMs: number } };
  readonly limits: { readonly fetchWholeBytes?: number; readonly fillBytes?: number; readonly storeBytes?: number };
}

/** The options of a world besides its seed. */
export interface WorldOptions {
  /** The numbers of the steps to run; the others are left out. Default: all. */
  readonly only?: ReadonlySet<number>;
  /** The greatest difference between the clocks of one PoP, in milliseconds. Default: just less than the allowance. */
  readonly popSkewMs?: number;
  /** How much later than promised everything may happen, in milliseconds. Default: 0. */
  readonly lateMs?: number;
}

/** The result of a world. */
export interface WorldOutcome {
  readonly seed: number;
  /** The broken promises, in words. */
  readonly broken: readonly BrokenPromise[];
  /** The exceptions that the code threw. */
  readonly bugs: readonly string[];
  readonly story: readonly string[];
  readonly occurred: Occurrences;
}

/** Storages of logs that no world uses now. */
const free: Sql[] = [];

/** Two PoPs with two isolates each, their log and their origin. One seed decides everything that happens. */
export class World {
  readonly #seed: number;
  readonly #options: WorldOptions;
  readonly #history = new History();
  readonly #fate: Fate;
  readonly #log: LateLog;
  readonly #origin: RandomOrigin;
  readonly #visitors: Visitors;
  readonly #backend: Backend;
  readonly #isStaleWhileSilent: boolean;
  /** Whether the isolates of one PoP are the parents of those of the other. */
  readonly #hasParent: boolean;
  /** Whether the newest version of the site lets purges come later to one route. */
  #isLateAllowed: boolean;
  readonly #pushing: Pushing;
  readonly #keepViewMs: number;
  readonly #rememberedByNameMs: number;
  /** `null` in a world that is not calm. */
  readonly #calm: Around | null;
  readonly #tiers: readonly LateTier[];
  readonly #notes: readonly LateNotes[];
  /** By PoP; `null` where isolates do not know each other's. */
  readonly #fetches: readonly LateFetches[] | null;
  /** The clocks of different PoPs may differ by any amount, those of one PoP only within the allowance. */
  readonly #skewsMs: readonly number[];
  readonly #isolates: SimulatedIsolate[][] = [[], []];
  /** Of all isolates that have ever been. */
  readonly #holdings: Holdings[] = [];
  /** `null` in a world that is not strained. */
  readonly #strain: Strain | null;

  constructor(seed: number, options: WorldOptions = {}) {
    this.#seed = seed;
    this.#options = options;
    const isCalm = isCalmWorld(seed);
    const fate = new Fate(seed, this.#history, new Storages(free), isCalm);
    this.#fate = fate;
    this.#hasParent = !isCalm && seed % PARENT_IN === 0;
    this.#isStaleWhileSilent = fate.chance(0.5);
    this.#isLateAllowed = fate.chance(0.2);
    this.#pushing = PUSHINGS[seed % PUSHINGS.length]!;
    this.#keepViewMs = isCalm ? fate.pick(CALM_KEEP_VIEW_MS) : (KEEP_VIEW_MS[seed % KEEP_VIEW_MS.length] ?? 0);
    const hasLittleRoom = fate.chance(0.4);
    fate.count("logs with little room", hasLittleRoom);
    fate.count("sites where a purge may come late", this.#isLateAllowed);
    this.#rememberedByNameMs = REMEMBERED_BY_NAME_MS[seed % REMEMBERED_BY_NAME_MS.length] ?? 0;
    const room = hasLittleRoom ? { maxReplyKeys: 2, maxHeldKeys: 4 } : { maxReplyKeys: 50, maxHeldKeys: 1000 };
    const isCrowded = !isCalm && seed % CROWDED_IN === 1;
    const isNumberedLow = seed % NUMBERED_LOW_IN === 2;
    const settings = {
      ...room,
      rememberedByNameMs: this.#rememberedByNameMs,
      longestUseMs: MAX_VIEW_AGE_MS,
      ...(isNumberedLow && { maxSeq: MAX_LOW_SEQ }),
    };
    const maxConnections = isCrowded ? 4 : undefined;
    this.#log = new LateLog(fate, { settings, pushing: this.#pushing, maxConnections });
    this.#origin = new RandomOrigin(fate);
    this.#visitors = new Visitors(fate);
    this.#backend = new Backend(fate, this.#log);
    this.#tiers = POPS.map(() => new LateTier(fate));
    this.#notes = POPS.map(() => new LateNotes(fate, this.#clocksDifferBy));
    this.#fetches = !isCalm && seed % 7 < SHARING_IN_SEVEN ? POPS.map(() => new LateFetches(fate)) : null;
    const apartMs = POPS.map((pop) => (pop === 0 ? 0 : (fate.random() - 0.5) * 2 * 3_600_000));
    // A child counts with its parent's `Date`, so clocks that are hours apart would leave it nothing that is fresh.
    this.#skewsMs = this.#hasParent ? POPS.map(() => 0) : apartMs;
    this.#calm = isCalm ? this.#around() : null;
    this.#strain = fate.isStrained
      ? {
          origin: { concurrency: fate.pick([2, 3, 4]), queue: { maxMs: fate.pick([200, 400, 800]) } },
          limits: fate.pick(LIMITS),
        }
      : null;
    for (const pop of POPS) for (const index of ISOLATES) this.#startIsolate(pop, index);
  }

  /** Runs its steps, and then waits until nothing more can happen. */
  async run(): Promise<WorldOutcome> {
    const { scheduler, occurred, story, bugs } = this.#fate;
    const { only } = this.#options;
    for (let number = 0; number < (this.#calm ? CALM_STEPS : STEPS); number++) {
      const waitMs = this.#fate.ofStep(number, () => this.#begin(!only || only.has(number)));
      await scheduler.advance(waitMs);
    }
    for (let restedMs = 0; this.#isBusy && restedMs < MAX_REST_MS; restedMs += LOOK_EVERY_MS) {
      await scheduler.advance(LOOK_EVERY_MS);
    }
    this.#noteForgotten();
    this.#history.held.push(...this.#held);
    const broken = brokenPromises(this.#history, this.#bounds);
    this.#fate.storages.giveBack();
    return { seed: this.#seed, broken, bugs, story, occurred };
  }

  /** Whether somebody waits for something, the log has not been told of a change, or something is held. */
  get #isBusy(): boolean {
    return this.#fate.isBusy || untoldChanges(this.#history).length > 0 || this.#held.length > 0;
  }

  /** What the isolates hold and the origin's bodies that are open, in words. */
  get #held(): string[] {
    const bodies = [...this.#history.openBodies].map(({ of }) => `the body of ${of} is neither read nor cancelled`);
    return [...this.#holdings.flatMap(({ all }) => all), ...bodies];
  }

  /** Begins a step, or leaves it out. Returns the time until the next one. */
  #begin(isRun: boolean): number {
    if (this.#calm) return calmStep(this.#calm, isRun);
    if (isRun) void this.#fate.begin(this.#step());
    return Math.floor(this.#fate.random() * STEP_MS);
  }

  async #step(): Promise<void> {
    const fate = this.#fate;
    const [path, isolate, drawn] = [this.#visitors.anyPath(), this.#anyIsolate(), fate.random()];
    if (drawn < 0.6) return this.#visitors.get(isolate, path, fate.chance(0.2) ? this.#latestPurge() : null);
    if (drawn < 0.67) return this.#visitors.get(isolate, path, null, "HEAD");
    if (drawn < 0.7) return this.#crowd(isolate, path);
    if (drawn < 0.83) return this.#purge();
    if (drawn < 0.87) return this.#visitors.post(isolate, path);
    if (drawn < 0.88) this.#deployLongerViewAge();
    if (drawn < 0.91) return void this.#replaceIsolate();
    if (drawn < 0.93) {
      this.#origin.failFor(fate.pick([200, 3000]));
      return fate.tell("the origin fails for a while");
    }
    if (drawn < 0.96) return this.#changeLog();
    if (this.#hasConnections && fate.chance(0.8)) {
      return fate.chance(0.6) ? this.#cutOff() : this.#comeBack();
    }
    this.#log.fallSilent(fate.pick([500, 4000]));
    fate.tell("the log falls silent for a while");
  }

  /** Where isolates know each other's fetches, a crowd comes to all of a PoP. */
  async #crowd(isolate: SimulatedIsolate, path: string): Promise<void> {
    const pop = this.#isolates.find((isolates) => isolates.includes(isolate))!;
    await Promise.all((this.#fetches ? pop : [isolate]).map((each) => this.#visitors.crowd(each, path)));
  }

  /**
   * A purge, perhaps after an edit of the page. Its caller may look at a purged page at once, in two places, or
   * everywhere once the receipt has settled; or may purge more.
   */
  async #purge(): Promise<void> {
    const fate = this.#fate;
    if (fate.chance(0.3)) this.#origin.edit(this.#visitors.anyPath());
    const more = fate.chance(0.3) ? [this.#backend.purge(() => this.#anyIsolate()), this.#purge()] : [];
    const purged = await this.#backend.purge(() => this.#anyIsolate());
    const seen = purged && this.#visitors.lastSeen(purged);
    if (seen && fate.chance(0.7)) await this.#lookWhenSettled(purged, seen);
    else if (seen) await Promise.all([1, 2].map(() => this.#visitors.get(this.#anyIsolate(), seen, purged)));
    await Promise.all(more);
  }

  async #lookWhenSettled(purged: Purged, path: string): Promise<void> {
    await this.#backend.settled(purged);
    await Promise.all(this.#isolates.flat().map((isolate) => this.#visitors.get(isolate, path, null)));
  }

  /** One isolate alone loses the log, perhaps as it starts. It may fetch a page meanwhile, which is then purged. */
  async #cutOff(): Promise<void> {
    const fate = this.#fate;
    const path = this.#visitors.anyPath();
    const isolate = fate.chance(0.3)
      ? this.#replaceIsolate({ withoutConnection: CUT_OFF_WITHOUT_CONNECTION })
      : this.#anyIsolate();
    if (fate.chance(0.3)) await fate.scheduler.wait(fate.pick([0, 2 * this.#keepViewMs])).over;
    this.#log.cutOff(isolate.reader, fate.pick([500, 4000]));
    fate.tell(`the log cannot be reached from ${isolate.name} for a while`);
    await fate.scheduler.wait(fate.pick([0, LEASE_MS, 2 * LEASE_MS])).over;
    if (fate.chance(0.7)) void this.#visitors.get(isolate, path, null);
    await fate.delay(300);
    if (fate.chance(0.7)) await (fate.chance(0.5) ? this.#purge() : this.#purgeEverything(path));
  }

  /**
   * An isolate gives up its lease, because it has no requests. Then it alone does not reach the log: after it has got
   * another lease, while its message about the first is still on its way; or before it fetches a page. Or it purges, and
   * has no connection.
   */
  async #comeBack(): Promise<void> {
    const fate = this.#fate;
    const [isolate, path] = [this.#anyIsolate(), this.#visitors.anyPath()];
    fate.count("isolates that came back after they had given up their lease");
    fate.tell(`${isolate.name} has no requests for a while`);
    await this.#visitors.get(isolate, path, null);
    await fate.scheduler.wait(this.#keepViewMs + fate.pick([0, 50, 200])).over;
    const does = fate.pick(["get", "fetch", "purge"] as const);
    if (does === "get") await this.#visitors.get(isolate, path, null);
    else await fate.scheduler.wait(fate.pick([400, 800])).over;
    if (does === "purge") await this.#backend.purge(() => isolate, UNRELATED);
    else this.#log.cutOff(isolate.reader, 3 * LEASE_MS);
    if (does !== "get") await this.#visitors.get(isolate, path, null);
    await this.#purgeEverything(path);
  }

  async #purgeEverything(path: string): Promise<void> {
    const purged = await this.#backend.purge(() => this.#anyIsolate(), EVERYTHING);
    if (purged) await this.#lookWhenSettled(purged, path);
  }

  get #hasConnections(): boolean {
    return this.#pushing === "over-connections";
  }

  get #isOnServers(): boolean {
    return this.#pushing === "to-workers" || this.#pushing === "to-machines";
  }

  #latestPurge() {
    return this.#history.purges.findLast(({ settledAt, kind }) => kind === "purge" && settledAt < Infinity) ?? null;
  }

  /** Restarts the log's object, or makes the log anew, while calls are under way. */
  async #changeLog(): Promise<void> {
    const fate = this.#fate;
    const isLost = fate.chance(0.5);
    fate.count(isLost ? "logs made anew" : "restarts of the log");
    if (!isLost) {
      this.#log.restart();
      return fate.tell("the log's object restarts");
    }
    const [isolate, path] = [this.#anyIsolate(), this.#visitors.anyPath()];
    const purger = fate.pick([isolate, this.#anyIsolate()]);
    await this.#visitors.get(isolate, path, null);
    const before = [this.#visitors.get(isolate, path, this.#latestPurge()), this.#backend.purge(() => purger)];
    await fate.delay(200);
    this.#log.makeAnew();
    fate.tell("the log is made anew");
    const after = fate.chance(0.5) ? [1, 2].map(() => this.#backend.purge(() => isolate)) : [];
    await this.#visitors.crowd(isolate, path);
    await fate.scheduler.wait(fate.pick([0, LEASE_MS])).over;
    await this.#visitors.crowd(isolate, path);
    await Promise.all([...before, ...after]);
  }

  /** Parents and children have the same rules, so that they would all have to be replaced at once. */
  #deployLongerViewAge(): void {
    if (this.#isLateAllowed || this.#hasParent) return;
    this.#isLateAllowed = true;
    this.#fate.tell("a new version of the site lets purges come later");
    this.#fate.count("new versions that allow a longer view age");
  }

  /** What the faults of a calm world may touch. */
  #around(): Around {
    const [fate, log, visitors, backend] = [this.#fate, this.#log, this.#visitors, this.#backend];
    const [keepViewMs, rememberedByNameMs] = [this.#keepViewMs, this.#rememberedByNameMs];
    return {
      ...{ fate, log, visitors, backend, keepViewMs, rememberedByNameMs, leaseMs: LEASE_MS },
      pops: this.#isolates,
      anyIsolate: () => this.#anyIsolate(),
      replace: (isolate, connects) => {
        const pop = this.#isolates.findIndex((isolates) => isolates.includes(isolate));
        return this.#replace(pop, this.#isolates[pop]!.indexOf(isolate), { withoutConnection: connects ? 0 : 1 });
      },
      purgeEverything: (path) => this.#purgeEverything(path),
    };
  }

  /** An isolate dies and another takes its place. Its work under way continues, as late writes do. */
  #replaceIsolate(start?: Start): SimulatedIsolate {
    return this.#replace(this.#fate.pick(POPS), this.#fate.pick(ISOLATES), start);
  }

  #replace(pop: number, index: number, start?: Start): SimulatedIsolate {
    this.#fate.count("isolates that died");
    this.#fate.tell(`isolate ${this.#isolates[pop]![index]!.name} dies`);
    const { reader } = this.#isolates[pop]![index]!;
    reader.isDead = true;
    this.#log.noteDeath(reader);
    this.#fetches?.[pop]?.noteDeath(reader);
    return this.#startIsolate(pop, index, start);
  }

  #startIsolate(pop: number, index: number, start: Start = {}): SimulatedIsolate {
    const fate = this.#fate;
    // More often than not the clocks differ as far as they may.
    const part = fate.pick(this.#calm ? [0, 1] : [0, fate.random(), 1]);
    const offsetMs = this.#skewsMs[pop]! + part * this.#clocksDifferBy;
    const name = `${"AB"[pop]}${index}.${fate.nextOrder()}`;
    const told = new Told();
    const never = Number.NEGATIVE_INFINITY;
    const reader: Reader = {
      name,
      told,
      bearers: 0,
      lastBearerAt: never,
      doubtAt: never,
      pop,
      isDead: false,
      cutOffUntil: never,
    };
    const usual = this.#calm ? 0 : WITHOUT_CONNECTION;
    const connects = this.#hasConnections && !fate.chance(start.withoutConnection ?? usual);
    fate.count("isolates that never confirm, beside others that do", this.#hasConnections && !connects);
    const keepViewMs = connects ? this.#keepViewMs : null;
    const site = siteOf(this.#isStaleWhileSilent, this.#isLateAllowed, keepViewMs, this.#strain);
    const notes = this.#notes[pop]!.reachedBy(told);
    const reporter = new Counters("http://origin.internal", () => undefined);
    const purge = { ...site.purge, rememberedByNameMs: this.#rememberedByNameMs };
    const clock = () => Math.floor(fate.now() + offsetMs);
    const timed = { now: clock, wait: (ms: number) => fate.scheduler.wait(ms) };
    const isChild = this.#hasParent && pop === CHILDREN_POP;
    const running = startLearningIsolate({ ...site, purge } as Site, {
      clock: timed,
      random: () => fate.random(),
      sharedTier: this.#tiers[pop]!.reachedBy(reader),
      notes,
      ...(this.#fetches && { neighbours: new KnownNeighbours(this.#fetches[pop]!.seenBy(reader)) }),
      origin: isChild
        ? simulatedParent(fate, name, clock, () => fate.pick(this.#isolates[PARENTS_POP]!))
        : this.#origin.seenFrom(name),
      log: this.#log.reachedBy(reader),
      ...(this.#isOnServers && { invalidationsOf: (log, told) => new NearInvalidations(log, timed, told) }),
      audit: {
        list: async () => ({ purges: [], next: null }),
        find: (seq, waitMs = 0) => this.#log.find(reader, seq, waitMs),
      },
      bodies: nodeBodies,
      control: (compiled, platform, parts) => {
        this.#holdings.push(new Holdings(name, parts.corridor));
        return startControl(compiled, platform, parts, ({ request }) => request as Request);
      },
      fingerprint: async (text) => text,
      tokens: { check: async () => ({ kind: "allowed", name: "simulation" }) },
      reporter: Object.assign(reporter, {
        report: (event: EdgeEvent) => {
          if (event.kind === "view-shared") notes.taken();
          this.#notice(event, name);
        },
      }),
    });
    const isolate = new SimulatedIsolate(reader, running, () => fate.now(), clock, fate.noteBug);
    this.#isolates[pop]![index] = isolate;
    isolate.admission = this.#log.admit(isolate);
    return isolate;
  }

  #notice(event: EdgeEvent, isolate: string): void {
    const fate = this.#fate;
    if (event.kind === "failed") fate.noteBug(event.cause);
    if (event.kind === "invalidation-dropped") this.#history.gaveUp.add(isolate);
    fate.count("fills crossed by a purge", event.kind === "fill-discarded" && event.because === "purged");
    fate.count("collapsed requests", event.kind === "collapsed");
    fate.count("bodies cut off", event.kind === "not-stored" && event.because === "cut-off");
    fate.count("views taken from another isolate of the PoP", event.kind === "view-shared");
    fate.count("origin failures", event.kind === "origin-failed");
    fate.count("requests that waited for their turn at the origin", event.kind === "origin-awaited");
    if (event.kind === "origin-turned-away") this.#noteTurnedAway();
  }

  /** An origin that is too busy counts as one that fails. The event does not say for which page. */
  #noteTurnedAway(): void {
    const [fate, { failures }] = [this.#fate, this.#history];
    fate.count("requests that a busy origin turned away");
    failures.push(...PATHS.map((target) => ({ target, at: fate.now() })));
  }

  /** Records acknowledged purges that their log, which still exists, no longer knows. */
  #noteForgotten(): void {
    const { purges, forgotten } = this.#history;
    const acknowledged = purges.filter(({ kind, settledAt }) => kind === "purge" && settledAt < Infinity);
    forgotten.push(...acknowledged.filter((purge) => this.#log.hasForgotten(purge)).map(({ name }) => name));
  }

  #anyIsolate(): SimulatedIsolate {
    return this.#fate.pick(this.#isolates.flat());
  }

  get #clocksDifferBy(): number {
    return this.#options.popSkewMs ?? SKEW_MS - 10;
  }

  get #bounds(): Bounds {
    const { lateMs = 0 } = this.#options;
    const maxViewAgeMs = this.#isLateAllowed ? MAX_VIEW_AGE_MS : LEASE_MS;
    return {
      knowledgeMs: (target) => (target.startsWith("/plog/") ? maxViewAgeMs : LEASE_MS),
      leaseMs: LEASE_MS,
      skewMs: SKEW_MS + lateMs,
      lateMs,
      softForMs: SOFT_FOR_MS,
      knownDownMs: 0, // `originDownAfter` is off
      staleWhileSilent: this.#isStaleWhileSilent,
    };
  }
}

/** The limits of strained worlds: whole pages for parts, room for less than one body on its way, or all bodies apart from their heads. */
const LIMITS: readonly Strain["limits"][] = [{ fetchWholeBytes: 100 }, { fillBytes: 2500 }, { storeBytes: 10 }];

const CONNECTED = ["over-connections", "over-connections", "over-connections"] as const;
/** How the log of a world pushes, by its seed. */
const PUSHINGS: readonly Pushing[] = [
  ...(["to-workers", ...CONNECTED, "none"] as const),
  ...(["to-machines", ...CONNECTED, "none"] as const),
];
/** Beside it: so short that isolates give up leases, and are forgotten, while others are at work. */
const KEEP_VIEW_MS: readonly number[] = [0, 1500, 500, 1500, 0, 0, 1500, 100, 1500, 0];
/** The same in a calm world. */
const CALM_KEEP_VIEW_MS: readonly number[] = [100, 500, 1500];
const REMEMBERED_BY_NAME_MS: readonly number[] = [0, 1500, 3000, 4000, 0, 0, 3000, 3000, 4000, 0];

const sites = new Map<string, Site>();

/** Each site is compiled once for all worlds. */
function siteOf(
  isStaleWhileSilent: boolean,
  isLateAllowed: boolean,
  keepViewMs: number | null,
  strain: Strain | null,
): Site {
  const name = `${isStaleWhileSilent} ${isLateAllowed} ${keepViewMs} ${JSON.stringify(strain)}`;
  const compiled =
    sites.get(name) ??
    compileSite(
      {
        origin: { url: "http://origin.internal", ...strain?.origin },
        limits: { ...strain?.limits },
        hosts: [HOST],
        routes: [{ ...ROUTE, purge: { maxViewAge: isLateAllowed ? `${MAX_VIEW_AGE_MS}ms` : "0s" } }],
        purge: {
          leaseMs: LEASE_MS,
          skewMs: SKEW_MS,
          softForMs: SOFT_FOR_MS,
          push: keepViewMs !== null,
          keepViewMs: keepViewMs ?? 0,
        },
        stale: { ifErrorWhileLogSilent: isStaleWhileSilent },
      },
      {},
    );
  sites.set(name, compiled);
  return compiled;
}
