import { isPurge, type LoggedRequest, mayHaveSucceeded, UNKNOWN_STATUS } from "../logs/logged-request.ts";
import { ownText } from "../logs/own-text.ts";
import { type Budget, type BudgetOutcome, BudgetTrial, type Miss } from "./budget-trial.ts";
import { hashKey } from "./key-hash.ts";
import { KeyTable } from "./key-table.ts";
import { type KeyedTarget, keyedTarget } from "./keyed-target.ts";
import { ERROR_LIFETIME_SECONDS, ERROR_STATUSES, LIFETIMES, PAGE_STATUSES, ticksOf } from "./lifetimes.ts";
import { MemoryTrial } from "./memory-trial.ts";
import { NamedCounts } from "./named-counts.ts";
import { Parameters } from "./parameters.ts";
import { firstSegment, passReason, RouteCounts } from "./route-counts.ts";
import { SearchCounts } from "./search-counts.ts";

export interface AnalysisSettings {
  /** The lifetime that the report is about. */
  readonly lifetimeSeconds: number;
  /** The sizes of caches to try, each 32 MiB times a power of two. */
  readonly memoryBytes: readonly number[];
  /** The most slots of the table of pages, a power of two. */
  readonly maxSlots: number;
  /** A budget for the origin to try. Default: none. */
  readonly budget?: Budget | undefined;
}

const MIB = 1024 ** 2;

export const DEFAULT_SETTINGS: AnalysisSettings = {
  lifetimeSeconds: 3600,
  memoryBytes: [32 * MIB, 128 * MIB, 512 * MIB, 2048 * MIB, 8192 * MIB],
  maxSlots: 1 << 20,
};

const MAX_ROUTES = 2_000;
const MAX_AGENTS = 4_000;
/** The most hours that are counted separately: four years. Otherwise lines with wrong clocks could fill the memory. */
const MAX_HOURS = 35_000;
/** A URL is remembered by name from this many requests. */
const REMEMBERED_FROM = 8;
const MAX_REMEMBERED = 4_000;

const HOUR_MS = 3_600_000;
/** A tick that leaves room for lines that are older than the first. */
const FIRST_MS = 30 * 24 * HOUR_MS;

const CRAWLER = /bot|crawl|spider|slurp|fetch|preview|scan|monitor|curl|wget|python|java\/|go-http|headless/i;

/** The requests and the misses of one hour. */
export interface HourCounts {
  requests: number;
  misses: number;
  /**
   * The hits for routes that were left to the origin at that time. They are misses if that is still so at the end. `null`
   * if there are none.
   */
  passedHits: Map<RouteCounts, number> | null;
}

/** Plays a site's requests through simulated caches. Memory does not grow with the log. */
export class TrafficAnalysis {
  readonly settings: AnalysisSettings;
  /** In seconds, ascending, including the chosen one. */
  readonly lifetimes: readonly number[];
  readonly chosen: number;
  readonly pages: KeyTable;
  /** The spellings of these pages, which would be separate keys without the rules for keys. */
  readonly spellings: KeyTable;
  readonly memory: readonly MemoryTrial[];
  readonly routes: NamedCounts<RouteCounts>;
  readonly hours = new Map<number, HourCounts>();
  readonly parameters = new Parameters();
  readonly searches = new SearchCounts();
  readonly statuses = new NamedCounts<{ requests: number }>(600, () => ({ requests: 0 }));
  /** URLs that were requested often, by name. */
  readonly urls = new Set<string>();
  requests = 0;
  unsafe = 0;
  notHttp = 0;
  /** Calls that remove a page from a cache. They are no requests. */
  purges = 0;
  /** Requests that the edge would refuse for their spelling. */
  refused = 0;
  bytes = 0;
  crawlers = 0;
  spellingMisses = 0;
  /** Spellings besides the first of each page, estimated. */
  furtherSpellings = 0;
  loggedByCache = 0;
  loggedHits = 0;
  firstAt = Infinity;
  lastAt = -Infinity;
  readonly #budgetTrial: BudgetTrial | null;
  readonly #agents = new Map<string, boolean>();
  readonly #lifetimeTicks: number;
  readonly #errorTicks: number;
  #startAt = NaN;

  constructor(settings: AnalysisSettings = DEFAULT_SETTINGS) {
    this.settings = settings;
    const { lifetimeSeconds, maxSlots } = settings;
    this.lifetimes = [...new Set([...LIFETIMES, lifetimeSeconds])].sort((a, b) => a - b);
    this.chosen = this.lifetimes.indexOf(lifetimeSeconds);
    const ticks = this.lifetimes.map((seconds) => ticksOf(seconds * 1000));
    this.#lifetimeTicks = ticks[this.chosen]!;
    this.#errorTicks = ticksOf(ERROR_LIFETIME_SECONDS * 1000);
    this.pages = new KeyTable(ticks, this.chosen, maxSlots);
    this.spellings = new KeyTable([this.#lifetimeTicks], 0, maxSlots / 2);
    this.memory = settings.memoryBytes.map((bytes) => new MemoryTrial(bytes, this.#lifetimeTicks));
    this.#budgetTrial = settings.budget ? new BudgetTrial(settings.budget) : null;
    this.routes = new NamedCounts(MAX_ROUTES, () => new RouteCounts(this.lifetimes.length));
  }

  take(request: LoggedRequest): void {
    if (isPurge(request)) {
      this.#takePurge(request);
      return;
    }
    this.requests++;
    this.bytes += request.bytes;
    this.#noteTime(request.at);
    this.statuses.at(STATUS_CLASSES[Math.floor(request.status / 100)] ?? "other").requests++;
    if (request.cacheStatus !== "") this.#noteCache(request.cacheStatus);
    const hour = this.#hourOf(request.at);
    hour.requests++;
    if (request.method === "") {
      this.notHttp++;
      hour.misses++;
      return;
    }
    const keyed = keyedTarget(request.target);
    const route = this.routes.at(keyed === null ? "/" : firstSegment(keyed.path));
    route.requests++;
    route.bytes += request.bytes;
    if (request.status === 401 || request.status === 403) route.refused++;
    const isCrawler = this.#isCrawler(request.userAgent);
    if (isCrawler) {
      this.crawlers++;
      route.crawlerRequests++;
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || keyed === null) {
      if (isRead) this.refused++;
      else this.#takeOther(request, keyed, route);
      for (let index = 0; index < route.misses.length; index++) route.misses[index]!++;
      route.missBytes += request.bytes;
      if (isCrawler) route.crawlerMisses++;
      hour.misses++;
      return;
    }
    route.readable++;
    // The caches' time. It does not go back for a late request.
    const tick = ticksOf(this.lastAt - this.#startAt + FIRST_MS);
    const longest = this.#longestTicks(request.status);
    // For a HEAD, a page is fetched and stored only where none is. One without validators is not renewed by it.
    const renews = request.method !== "HEAD";
    const hasQuery = keyed.search !== "";
    if (hasQuery) {
      this.parameters.take(
        keyed.path,
        keyed.search,
        request.status === 200 && request.method === "GET" ? request.bytes : 0,
      );
    }
    const key = request.host + keyed.path + keyed.query;
    hashKey(key);
    const weight = this.pages.count(tick, longest, renews);
    const isPassed = this.#isPassed(keyed.path, route);
    if (weight === 0) {
      // Its misses are not counted, but it takes its room from the pages that are.
      if (!isPassed) for (const trial of this.memory) trial.play(tick, request.bytes, longest, renews, false, 0);
      return;
    }
    this.#countPage(request, weight, route, isCrawler);
    if (!isPassed) {
      for (const trial of this.memory) trial.play(tick, this.pages.bytes, longest, renews, this.#isMiss, weight);
    }
    if (this.#isMiss) hour.misses += weight;
    else if (isPassed) {
      hour.passedHits ??= new Map();
      hour.passedHits.set(route, (hour.passedHits.get(route) ?? 0) + weight);
    }
    if (isPassed || this.#isMiss) this.#budgetTrial?.take(missOf(request, weight));
    this.#rememberFrequent(key);
    if (hasQuery) this.searches.take(keyed.path, keyed.query, weight, this.#isMiss, this.pages.isNew);
    this.#countSpelling(request, weight, tick, longest, renews);
  }

  /** Takes a request that is neither GET nor HEAD. It reaches the origin, and may change what is stored. */
  #takeOther(request: LoggedRequest, keyed: KeyedTarget | null, route: RouteCounts): void {
    this.unsafe++;
    const isUnsafe = !SAFE.has(request.method);
    if (isUnsafe) route.unsafe++;
    if (keyed === null) return;
    this.#budgetTrial?.take(missOf(request, 1));
    if (isUnsafe && mayHaveSucceeded(request.status)) this.#invalidate(request, keyed);
  }

  #takePurge(request: LoggedRequest): void {
    this.purges++;
    const keyed = keyedTarget(request.target);
    if (keyed !== null && mayHaveSucceeded(request.status)) this.#invalidate(request, keyed);
  }

  /**
   * Counts the spelling of a counted page: its miss is the page's, but where a spelling in the sample of spellings, with
   * its weight, shows another result. So the sum errs only by what the key rules change, and not at all without queries.
   * Both samples must be independent, because their weights are multiplied.
   */
  #countSpelling(request: LoggedRequest, weight: number, tick: number, longest: number, renews: boolean): void {
    hashSpelling(request);
    const { pages, spellings } = this;
    const ofPage = spellings.count(tick, longest, renews);
    if (this.#isMiss) this.spellingMisses += weight;
    if (ofPage === 0) return;
    this.spellingMisses += weight * ofPage * (Number(spellings.missed !== 0) - Number(this.#isMiss));
    if (!pages.isNew && spellings.isNew) this.furtherSpellings += weight * ofPage;
  }

  #countPage(request: LoggedRequest, weight: number, route: RouteCounts, isCrawler: boolean): void {
    const { pages } = this;
    if (request.bytes > 0 && request.status === 200 && request.method === "GET") pages.bytes = request.bytes;
    for (let missed = pages.missed, index = 0; missed !== 0; missed >>>= 1, index++) {
      if (missed & 1) route.misses[index]! += weight;
    }
    if (!this.#isMiss) return;
    route.missBytes += weight * request.bytes;
    if (isCrawler) route.crawlerMisses += weight;
  }

  /** What the budget would have done; `null` if there is none. Ends that analysis. */
  endBudgetTrial(): BudgetOutcome | null {
    return this.#budgetTrial?.end() ?? null;
  }

  /** Whether the config would leave the route to the origin, judged by the lines so far. */
  #isPassed(path: string, route: RouteCounts): boolean {
    return route !== this.routes.others && passReason(firstSegment(path), route, this.requests) !== null;
  }

  get #isMiss(): boolean {
    return ((this.pages.missed >>> this.chosen) & 1) === 1;
  }

  #longestTicks(status: number): number {
    // A 304 was the answer to a visitor who had the page. The edge fetches the page itself, and one whose status is not
    // known.
    if (status === 304 || status === UNKNOWN_STATUS || PAGE_STATUSES.includes(status)) return 0xffffffff;
    return ERROR_STATUSES.includes(status) ? this.#errorTicks : 0;
  }

  #invalidate(request: LoggedRequest, { path, query }: KeyedTarget): void {
    hashKey(request.host + path + query);
    this.pages.invalidate();
    for (const trial of this.memory) trial.invalidate();
    hashSpelling(request);
    this.spellings.invalidate();
  }

  #noteTime(at: number): void {
    if (Number.isNaN(this.#startAt)) this.#startAt = at;
    if (at < this.firstAt) this.firstAt = at;
    if (at > this.lastAt) this.lastAt = at;
  }

  #hourOf(at: number): HourCounts {
    const hour = Math.floor(at / HOUR_MS);
    const counts = this.hours.get(hour);
    if (counts !== undefined) return counts;
    const made: HourCounts = { requests: 0, misses: 0, passedHits: null };
    if (this.hours.size < MAX_HOURS) this.hours.set(hour, made);
    return made;
  }

  #noteCache(words: string): void {
    this.loggedByCache++;
    if (HITS.has(words)) this.loggedHits++;
  }

  #isCrawler(agent: string): boolean {
    if (agent === "") return false;
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const isCrawler = CRAWLER.test(agent);
    if (this.#agents.size < MAX_AGENTS) this.#agents.set(ownText(agent), isCrawler);
    return isCrawler;
  }

  /** Remembers the key that was counted last if it is frequent. */
  #rememberFrequent(key: string): void {
    const { requests } = this.pages;
    if (requests < REMEMBERED_FROM || (requests & (requests - 1)) !== 0 || this.urls.has(key)) return;
    if (this.urls.size >= MAX_REMEMBERED) this.#forgetHalf();
    this.urls.add(ownText(key));
  }

  #forgetHalf(): void {
    for (const { url } of this.frequentUrls().slice(MAX_REMEMBERED / 2)) this.urls.delete(url);
  }

  /** The URLs that are remembered by name, the most frequent first. */
  frequentUrls(): { readonly url: string; readonly requests: number }[] {
    const found = [...this.urls.keys()].map((url) => {
      hashKey(url);
      return { url, requests: this.pages.requestsOf() };
    });
    return found.sort((a, b) => b.requests - a.requests || (a.url < b.url ? -1 : 1));
  }
}

/** With its own seed: the sample of spellings must not be that of pages where a spelling is its page's key. */
function hashSpelling({ host, target }: LoggedRequest): void {
  hashKey(host + target, 0x27d4eb2f);
}

const STATUS_CLASSES: Readonly<Record<number, string>> = { 1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx" };

/** The log's words for answers that did not wait for the origin. */
const HITS: ReadonlySet<string> = new Set(["HIT", "STALE", "UPDATING"]);

/** The duration of a hit is not the origin's, and an answer that switches protocols ends at once. RFC 9110 §15.2.2. */
function missOf({ at, client, tookMs, cacheStatus, status }: LoggedRequest, weight: number): Miss {
  return { at, client, tookMs: HITS.has(cacheStatus) || status === 101 ? null : tookMs, weight };
}

/** The other methods that change nothing: a browser's preflights, for example. RFC 9110 §9.2.1. */
const SAFE: ReadonlySet<string> = new Set(["OPTIONS", "TRACE"]);
