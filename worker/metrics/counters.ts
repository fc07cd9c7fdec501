import type { IsolateStats } from "../../wire/stats.ts";
import type { Timer } from "../ports/clock.ts";
import type { AnsweredByEdgeEvent, AnsweredEvent, EdgeEvent, Reporter } from "../ports/reporter.ts";
import type { Route } from "../rules/key/route.ts";
import type { ClientClass } from "../rules/queueing/client-class.ts";
import { notStoredDetail } from "../rules/storing/not-stored.ts";
import {
  addCounts,
  addUnder,
  type CountTree,
  emptyTree,
  MAX_NAMES,
  NO_ROUTE,
  OTHERS,
  sumOfRoutes,
} from "./count-tree.ts";
import { LastRefusals } from "./last-refusals.ts";
import { type Count, Likeness } from "./likeness.ts";
import type { ReuseSample } from "./reuse-sample.ts";
import { Sightings } from "./sightings.ts";
import { filledBuckets, TimeSketch } from "./time-sketch.ts";
import { type TopUrl, TopUrls, withoutQuery } from "./top-urls.ts";

/** The stats that are counted from events. `startIsolate` adds the others. */
type Counts = Omit<IsolateStats, "version" | "scope" | "startedAt" | "memory" | "fills" | "atOrigin" | "view">;

/** The shortest time between two lines that the origin is down: milliseconds. */
const TELL_EVERY_MS = 60_000;

/** One answer out of memory in this many is timed: reading the timer takes as long as the rest of the counting. */
const MEMORY_HITS_PER_TIME = 16;

/** The heaviest URLs of each kind since they were last taken. */
export interface TopLists {
  /** By the number of requests that found nothing usable. */
  readonly missed: readonly TopUrl[];
  /** By the bytes that the origin sent. */
  readonly bytes: readonly TopUrl[];
  /** By the time that requests waited for the origin, in milliseconds. */
  readonly slowest: readonly TopUrl[];
  /** By the number of answers that were not stored. */
  readonly notStored: readonly TopUrl[];
}

/** Where a request has waited: at the origin for nothing, if that has failed or was busy. */
type Tier = AnsweredEvent["tier"] | "failed";

/** What is counted apart for each route. */
class RouteCounts {
  readonly answers = new Map<string, number>();
  readonly statuses = noStatuses();
  /** Answers that the edge made itself. */
  #own = 0;
  cachedBytes = 0;
  originBytes = 0;
  readonly times: Partial<Record<Tier, TimeSketch>> = {};
  /** The reasons for not storing, and what the comparison of pages has found. */
  readonly findings = emptyTree();
  readonly compared: Count = (path, by) => addUnder(this.findings, ["compared", ...path], by);

  countOwn(status: number): void {
    this.#own++;
    this.statuses[status]!++;
  }

  get tree(): CountTree {
    const sketched = Object.entries(this.times).map(([tier, sketch]) => [tier, { ...sketch.times }]);
    return {
      requests: sum(this.answers.values()) + this.#own,
      fromCache: sum(FROM_CACHE.map((name) => this.answers.get(name) ?? 0)),
      answers: Object.fromEntries(this.answers),
      statuses: filledBuckets(this.statuses),
      bytes: { fromCache: this.cachedBytes, fromOrigin: this.originBytes },
      times: Object.fromEntries(sketched) as CountTree,
      ...addCounts(emptyTree(), this.findings),
    };
  }
}

/** Counts of answers at the places of their statuses, which have three digits (RFC 9110 §15). */
function noStatuses(): Float64Array {
  return new Float64Array(1000);
}

function nobody(): Record<ClientClass, number> {
  return { editor: 0, known: 0, other: 0 };
}

/** The answers whose bodies were stored. */
const FROM_CACHE = ["HIT", "UPDATING", "STALE", "REVALIDATED"];

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0);
}

/** Counts events, and logs a line when the origin or the purge log fails and when it recovers. */
export class Counters implements Reporter {
  readonly #write: (line: string) => void;
  readonly #isServed: () => boolean;
  readonly #originUrl: string;
  readonly #routes = new Map<string | null, RouteCounts>();
  #unnamed: ReadonlySet<string | null> = new Set();
  readonly #top = { missed: new TopUrls(), bytes: new TopUrls(), slowest: new TopUrls(), notStored: new TopUrls() };
  readonly lastRefusals = new LastRefusals();
  readonly sightings = new Sightings();
  #timer: Timer | null = null;
  #reuse: ReuseSample | null = null;
  #memoryHits = 0;
  #nextReportAt = Number.POSITIVE_INFINITY;
  /** Whether an answer has come at or after the time of the next report. */
  isReportDue = false;
  readonly #answeredByEdge = emptyTree();
  /** The statuses of answers without a route. */
  readonly #statusesOfEdge = noStatuses();
  readonly #unkeyedFields = emptyTree();
  readonly #discarded = emptyTree();
  readonly #counts = {
    origin: { asked: 0, answered: 0, failed: 0, awaited: 0, turnedAway: 0 },
    queue: { awaited: nobody(), turnedAway: nobody() },
    store: { stored: 0, storedBytes: 0, failed: 0 },
    secondLooks: { asked: 0, marked: 0 },
    deltas: { sent: 0, bytes: 0, savedBytes: 0 },
    collapsed: 0,
    askedPastTheCache: 0,
    tokensRefused: 0,
    log: { reads: 0, failedReads: 0, shared: 0 },
    purges: 0,
    invalidationsDropped: 0,
    failures: 0,
  };
  #purgedKeysRead = 0;
  #unmeasuredBodies = 0;
  /** What is known to be down, or to give bad answers. */
  readonly #down = new Set<"origin" | "answers" | "log">();
  /** When the origin was last said to be down. */
  #originToldAt = Number.NEGATIVE_INFINITY;
  /** Made when it is first needed, because it takes 256 KiB. */
  #madeLikeness: Likeness | null = null;

  /** How each kind of event is counted. */
  readonly #counting: { readonly [Kind in EdgeEvent["kind"]]: (event: EdgeEvent & { kind: Kind }) => void } = {
    answered: (event) => this.#countAnswer(event),
    "answered-by-edge": (event) => this.#countOwnAnswer(event),
    "origin-asked": () => void this.#counts.origin.asked++,
    "origin-answered": (event) => this.#countOriginAnswer(event),
    "body-measured": ({ route, url, bytes }) => {
      this.#unmeasuredBodies--;
      this.#countOriginBytes(route, url, bytes);
    },
    "origin-failed": (event) => this.#countOriginFailure(event),
    "origin-awaited": ({ client }) => {
      this.#counts.origin.awaited++;
      this.#counts.queue.awaited[client]++;
    },
    "origin-turned-away": ({ client }) => {
      this.#counts.origin.turnedAway++;
      this.#counts.queue.turnedAway[client]++;
    },
    "fill-discarded": ({ because }) => addUnder(this.#discarded, [because]),
    "not-stored": (event) => this.#countNotStored(event),
    fetched: (event) => {
      this.lastRefusals.forget(event.url);
      this.sightings.see(event.stored.head);
      this.#likeness.stored(event, this.#routeCounts(event.route).compared);
    },
    found: ({ head }) => this.sightings.find(head),
    "passed-on": (event) => this.#likeness.passed(event, this.#routeCounts(event.route).compared),
    "second-look": () => void this.#counts.secondLooks.asked++,
    "field-marked": () => void this.#counts.secondLooks.marked++,
    stored: ({ bytes }) => {
      this.#counts.store.stored++;
      this.#counts.store.storedBytes += bytes;
    },
    "store-failed": () => void this.#counts.store.failed++,
    "delta-sent": ({ bytes, insteadOfBytes }) => {
      this.#counts.deltas.sent++;
      this.#counts.deltas.bytes += bytes;
      this.#counts.deltas.savedBytes += insteadOfBytes - bytes;
    },
    collapsed: () => void this.#counts.collapsed++,
    "asked-past-the-cache": () => void this.#counts.askedPastTheCache++,
    "token-refused": () => void this.#counts.tokensRefused++,
    "log-read": ({ purges }) => {
      this.#counts.log.reads++;
      this.#purgedKeysRead += purges;
      this.#isBack("log", "The purge log answers again.");
    },
    "log-failed": ({ cause, isPurge }) => {
      this.#counts.log.failedReads++;
      if (isPurge) return;
      const then = this.#isServed() ? "requests go to the origin" : "this worker serves no page";
      this.#goesDown("log", `The purge log cannot be reached (${String(cause)}). Until it answers, ${then}.`);
    },
    "view-shared": () => void this.#counts.log.shared++,
    "invalidation-dropped": () => void this.#counts.invalidationsDropped++,
    purged: () => void this.#counts.purges++,
    failed: ({ cause, isSentOn }) => {
      this.#counts.failures++;
      this.#write(`Tidemark failed on a request${isSentOn ? " and sent it to the origin" : ""}: ${stackOf(cause)}`);
    },
  };

  /** `isServed`: whether visitors get answers by now. Default: they do. */
  constructor(originUrl: string, write: (line: string) => void, isServed = () => true) {
    this.#originUrl = originUrl;
    this.#write = write;
    this.#isServed = isServed;
  }

  get #likeness(): Likeness {
    this.#madeLikeness ??= new Likeness();
    return this.#madeLikeness;
  }

  report(event: EdgeEvent): void {
    const count = this.#counting[event.kind] as (event: EdgeEvent) => void;
    count(event);
  }

  /**
   * Begins to time answers, and to report on the uses of a memory. Counts by the names of the site's first routes, which are
   * the same in every isolate, and all others as one.
   */
  begin(routes: readonly Route[], timer: Timer, reuse: ReuseSample): void {
    this.#unnamed = new Set([...new Set(routes.flatMap(({ pattern }) => pattern ?? []))].slice(MAX_NAMES));
    this.#timer = timer;
    this.#reuse = reuse;
  }

  /** `isReportDue` is set by the first answer to a request that arrives at this time or later. */
  reportAt(at: number): void {
    this.#nextReportAt = at;
    this.isReportDue = false;
  }

  /** Everything that the site's ledger adds up, since the isolate started. */
  tree(): { counts: CountTree; routes: CountTree } {
    const routes = this.#routeTrees;
    const ofAll = sumOfRoutes(routes);
    const { requests = 0, fromCache = 0, statuses = {}, bytes = {}, times = {} } = ofAll;
    const counts = {
      ...(this.counts(ofAll) as CountTree),
      requests: (requests as number) + sum(this.#statusesOfEdge),
      fromCache,
      statuses: addCounts(statuses as CountTree, filledBuckets(this.#statusesOfEdge)),
      bytes: { fromCache: 0, fromOrigin: 0, ...(bytes as CountTree), unmeasuredBodies: this.#unmeasuredBodies },
      times,
      purgedKeysRead: this.#purgedKeysRead,
      ...(this.#reuse && { reuse: this.#reuse.counts }),
    };
    return { counts, routes };
  }

  /** The heaviest URLs since the last call. */
  takeTop(): TopLists {
    const { missed, bytes, slowest, notStored } = this.#top;
    return { missed: missed.take(), bytes: bytes.take(), slowest: slowest.take(), notStored: notStored.take() };
  }

  /** `ofAll`: the sum over all routes, which takes milliseconds where there are many. */
  counts(ofAll = sumOfRoutes(this.#routeTrees)): Counts {
    const { answers = {}, refused = {} } = ofAll;
    const counts = {
      ...this.#counts,
      answers,
      answeredByEdge: this.#answeredByEdge,
      store: { ...this.#counts.store, refused, unkeyedFields: this.#unkeyedFields, discarded: this.#discarded },
    };
    return structuredClone(counts) as Counts;
  }

  get #routeTrees(): CountTree {
    return Object.fromEntries([...this.#routes].map(([pattern, counts]) => [pattern ?? NO_ROUTE, counts.tree]));
  }

  #countAnswer(event: AnsweredEvent): void {
    const { xCache, tier } = event;
    const route = this.#routeCounts(event.route);
    route.answers.set(xCache, (route.answers.get(xCache) ?? 0) + 1);
    route.statuses[event.status]!++;
    route.cachedBytes += event.cachedBytes;
    this.#noteArrival(event.arrivedAt);
    const timer = this.#timer;
    if (timer === null) return;
    if (tier === "memory") {
      if (timer.runsInMemory && ++this.#memoryHits % MEMORY_HITS_PER_TIME === 1) this.#time(route, event, timer);
      return;
    }
    const tookMs = this.#time(route, event, timer);
    if (tier === "shared") return;
    const url = event.isStored ? event.url : withoutQuery(event.url);
    if (xCache === "MISS" || xCache === "EXPIRED") this.#top.missed.add(url, 1);
    if (tookMs > 0) this.#top.slowest.add(url, tookMs);
  }

  #countOwnAnswer({ status, detail, arrivedAt, route, url, startedAt }: AnsweredByEdgeEvent): void {
    this.#noteArrival(arrivedAt);
    addUnder(this.#answeredByEdge, [detail]);
    if (route === undefined) return void this.#statusesOfEdge[status]!++;
    const counts = this.#routeCounts(route);
    counts.countOwn(status);
    const timer = this.#timer;
    if (timer === null || startedAt === undefined || !detail.startsWith("origin-")) return;
    const tookMs = this.#time(counts, { tier: "failed", startedAt }, timer);
    if (tookMs > 0) this.#top.slowest.add(withoutQuery(url!), tookMs);
  }

  #noteArrival(at: number): void {
    if (at >= this.#nextReportAt) this.isReportDue = true;
  }

  #time({ times }: RouteCounts, { tier, startedAt }: { tier: Tier; startedAt: number }, timer: Timer): number {
    const tookMs = Math.max(0, timer.now() - startedAt);
    times[tier] ??= new TimeSketch();
    times[tier].add(tookMs);
    return tookMs;
  }

  #countOriginAnswer({ route, url, bytes }: EdgeEvent & { kind: "origin-answered" }): void {
    this.#counts.origin.answered++;
    if (bytes === null) this.#unmeasuredBodies++;
    else this.#countOriginBytes(route, url, bytes);
    this.#isBack("origin", `The origin ${this.#originUrl} answers again.`);
  }

  /** One page that fails among others looks like an outage that ends at once, so that is told once a minute at most. */
  #countOriginFailure({ because, cause, isTold, at }: EdgeEvent & { kind: "origin-failed" }): void {
    const failed = ++this.#counts.origin.failed;
    if (isTold) return;
    const words = causeWords(cause);
    if (because === "bad-response") {
      const what = `gave an answer that is not valid HTTP, or over this edge's limits (${words})`;
      const then = "Such pages get 502 (origin-bad-response), and no further lines here";
      this.#goesDown("answers", `The origin ${this.#originUrl} ${what}. ${then}.`);
    } else if (Math.abs(at - this.#originToldAt) >= TELL_EVERY_MS) {
      this.#originToldAt = at;
      const [why, status] =
        because === "timed-out" ? ["took too long to answer", 504] : [`cannot be reached, or hung up (${words})`, 502];
      const then = `Pages that are not cached get ${status} or 503 until it answers`;
      this.#goesDown("origin", `The origin ${this.#originUrl} ${why}. Failures so far: ${failed}. ${then}.`);
    }
  }

  #countNotStored(event: EdgeEvent & { kind: "not-stored" }): void {
    const { because, url, at, field } = event;
    const route = this.#routeCounts(event.route);
    this.lastRefusals.remember(url, { because: notStoredDetail(event), at });
    this.#top.notStored.add(withoutQuery(url), 1, because);
    addUnder(route.findings, ["refused", because]);
    if (because === "no-freshness") this.#likeness.lacksLifetime(url, at, route.compared);
    if (field !== undefined) addUnder(this.#unkeyedFields, [field]);
  }

  /** Whether the answer will be stored is not known yet. */
  #countOriginBytes(route: string | null, url: string, bytes: number): void {
    this.#routeCounts(route).originBytes += bytes;
    if (bytes > 0) this.#top.bytes.add(withoutQuery(url), bytes);
  }

  #routeCounts(pattern: string | null): RouteCounts {
    const held = this.#routes.get(pattern);
    if (held) return held;
    if (this.#unnamed.has(pattern)) return this.#routeCounts(OTHERS);
    const counts = new RouteCounts();
    this.#routes.set(pattern, counts);
    return counts;
  }

  /** Writes the line unless it is known already. */
  #goesDown(what: "origin" | "answers" | "log", line: string): void {
    if (!this.#down.has(what)) this.#write(line);
    this.#down.add(what);
  }

  #isBack(what: "origin" | "log", line: string): void {
    if (this.#down.delete(what)) this.#write(line);
  }
}

/** The runtime reports an unknown host name as an internal error with a reference that does not help the owner. */
function causeWords(cause: unknown): string {
  const text = String(cause).replace(/^Error: /, "");
  return text.startsWith("internal error") ? "no such host name, or the runtime could not connect" : text;
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
