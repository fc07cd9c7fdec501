import type { Cdn } from "../../local/cdn/cdn.ts";
import { startCdn } from "../../local/index.ts";
import type { Bounds } from "../simulation/promises.ts";
import { HttpOrigin } from "./http-origin.ts";
import { inTrouble, Knowledge } from "./knowledge.ts";
import { noOccurrences, type Occurrence, type Occurrences } from "./occurrences.ts";
import { ISOLATES_PER_POP, nameOf, PLACES, REGIONS, type Region } from "./places.ts";
import { Timeline } from "./timeline.ts";

export const LEASE_MS = 1000;
export const SKEW_MS = 250;

/** The name of the one log of all stories. Any name would do. */
export const LOG_ID = "the log";

/** The limits by which the CDN's PoPs are bound. */
export const BOUNDS: Bounds = {
  knowledgeMs: () => LEASE_MS,
  leaseMs: LEASE_MS,
  skewMs: SKEW_MS,
  lateMs: 0,
  softForMs: 0,
  knownDownMs: 0,
  staleWhileSilent: false,
};

/** The lifetime that the site gives to one page of each story, whatever the origin says. */
export const ROUTE_TTL_SECONDS = 600;
export const ROUTE = { match: "/plog/:slug", ttl: `${ROUTE_TTL_SECONDS}s`, tags: ["plog:{slug}"] };

/** The state that all stories share: the simulated CDN, its origin, its time, and the record of its events. */
export class Stage implements AsyncDisposable {
  readonly cdn: Cdn<Region>;
  readonly origin: HttpOrigin;
  readonly timeline: Timeline;
  readonly knowledge = new Knowledge();
  readonly occurred: Occurrences = noOccurrences();
  readonly bugs: string[] = [];
  /** The isolates that gave up sending an invalidation to the log, or may have died before they sent it. */
  readonly gaveUp = new Set<string>();
  #stirs = 0;
  #nextStir = Promise.withResolvers<void>();

  private constructor(cdn: Cdn<Region>, origin: HttpOrigin) {
    this.cdn = cdn;
    this.origin = origin;
    this.timeline = new Timeline(() => cdn.now);
  }

  static async start(hosts: readonly string[]): Promise<Stage> {
    const origin = new HttpOrigin();
    const site = {
      hosts,
      routes: [ROUTE],
      purge: { leaseMs: LEASE_MS, skewMs: SKEW_MS },
      stale: { ifErrorWhileLogSilent: false },
    };
    const cdn = await startCdn({ site, origin: await origin.start(), regions: REGIONS, isolates: ISOLATES_PER_POP });
    const stage = new Stage(cdn, origin);
    await cdn.skew("nyc", "20s");
    await cdn.skew("syd", "-1h");
    await stage.advance(2000 - (cdn.now % 1000));
    return stage;
  }

  count(name: Occurrence, isSo = true): void {
    if (isSo) this.occurred[name]++;
  }

  async advance(ms: number): Promise<void> {
    await this.cdn.advance(`${ms}ms`);
    this.timeline.beginInstant();
    this.timeline.tell(null, `— ${ms} ms have passed`);
  }

  /** Records progress: a request reached the origin, or an answer reached its client. */
  stir(): void {
    this.#stirs++;
    this.#nextStir.resolve();
    this.#nextStir = Promise.withResolvers();
  }

  /** Resolves once all waiting work waits only for answers that the origin holds back. */
  async rest(isQuiet: () => boolean): Promise<void> {
    for (;;) {
      while (!isQuiet()) await this.#nextStir.promise;
      const stirs = this.#stirs;
      await this.#eachPop((region) => this.cdn.pop(region).finishWrites());
      if (stirs === this.#stirs && isQuiet()) return;
    }
  }

  /** Reads every isolate's counters: its knowledge of the log, and whether it still works correctly. */
  async listen(): Promise<void> {
    const stats = await Promise.all(PLACES.map(({ region, isolate }) => this.cdn.stats(region, isolate)));
    for (const [at, place] of PLACES.entries()) {
      const { failures, invalidationsDropped } = stats[at]!;
      if (failures > 0) this.bugs.push(`the last catch of ${nameOf(place)} had to answer ${failures} times`);
      const life = this.knowledge.lifeIn(nameOf(place));
      if (invalidationsDropped > 0) for (const name of [life, inTrouble(life)]) this.gaveUp.add(name);
      this.occurred["views taken from another isolate of the PoP"] += this.knowledge.notes(place, stats[at]!);
    }
  }

  /** Resolves once no background work is left. */
  async finishWork(): Promise<void> {
    await this.#eachPop((region) => this.cdn.pop(region).finishWork());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cdn.close();
    await this.origin.stop();
  }

  async #eachPop(work: (region: Region) => Promise<void>): Promise<void> {
    await Promise.all(REGIONS.map(work));
  }
}
