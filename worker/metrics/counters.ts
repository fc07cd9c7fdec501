import type { IsolateStats } from "../../wire/stats.ts";
import type { Timer } from "../ports/clock.ts";
import type { AnsweredEvent, EdgeEvent, Reporter } from "../ports/reporter.ts";
import { addCounts, addUnder, type CountTree, emptyTree, MAX_NAMES, OTHERS, sumOfRoutes } from "./count-tree.ts";
import { type Count, Likeness } from "./likeness.ts";
import type { ReuseSample } from "./reuse-sample.ts";
import { TimeSketch } from "./time-sketch.ts";
import { type TopUrl, TopUrls, withoutQuery } from "./top-urls.ts";

/** The stats that are counted from events. `startIsolate` adds the others. */
type Counts = Omit<IsolateStats, "version" | "scope" | "startedAt" | "memory" | "fills" | "view">;

/** One answer out of memory in this many is timed: reading the timer takes as long as the rest of the counting. */
const MEMORY_HITS_PER_TIME = 16;

/** Paths that match no route are counted under this name, which is not a pattern. */
const NO_ROUTE = "(none)";

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

/** What is counted apart for each route. */
class RouteCounts {
  readonly answers = new Map<string, number>();
  cachedBytes = 0;
  originBytes = 0;
  readonly times: Partial<Record<AnsweredEvent["tier"], TimeSketch>> = {};
  /** The reasons for not storing, and what the comparison of pages has found. */
  readonly findings = emptyTree();
  readonly compared: Count = (path, by = 1) => addUnder(this.findings, ["compared", ...path], by);

  get tree(): CountTree {
    const sketched = Object.entries(this.times).map(([tier, sketch]) => [tier, { ...sketch.times }]);
    return {
      ...requestsOf(this.answers),
      answers: Object.fromEntries(this.answers),
      bytes: { fromCache: this.cachedBytes, fromOrigin: this.originBytes },
      times: Object.fromEntries(sketched) as CountTree,
      ...addCounts(emptyTree(), this.findings),
    };
  }
}

/** The answers whose bodies were stored. */
const FROM_CACHE = ["HIT", "UPDATING", "STALE", "REVALIDATED"];

/** All answers, and those whose bodies were stored. */
function requestsOf(answers: ReadonlyMap<string, number>): { requests: number; fromCache: number } {
  return {
    requests: sum(answers.values()),
    fromCache: sum(FROM_CACHE.map((name) => answers.get(name) ?? 0)),
  };
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0);
}

/** Counts events, and logs a line when the origin or the purge log fails and when it recovers. */
export class Counters implements Reporter {
  readonly #write: (line: string) => void;
  readonly #originUrl: string;
  readonly #routes = new Map<string | null, RouteCounts>();
  readonly #top = { missed: new TopUrls(), bytes: new TopUrls(), slowest: new TopUrls(), notStored: new TopUrls() };
  #timer: Timer | null = null;
  #reuse: ReuseSample | null = null;
  #memoryHits = 0;
  #nextReportAt = Number.POSITIVE_INFINITY;
  /** Whether an answer has come at or after the time of the next report. */
  isReportDue = false;
  readonly #answers = new Map<string, number>();
  readonly #answeredByEdge = new Map<string, number>();
  readonly #refused = new Map<string, number>();
  readonly #unkeyedFields = new Map<string, number>();
  readonly #discarded = new Map<string, number>();
  readonly #counts = {
    origin: { asked: 0, answered: 0, failed: 0 },
    store: { stored: 0, storedBytes: 0, failed: 0 },
    secondLooks: { asked: 0, marked: 0 },
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
  #originIsDown = false;
  #logIsDown = false;
  /** Made when it is first needed, because it takes 256 KiB. */
  #madeLikeness: Likeness | null = null;

  constructor(originUrl: string, write: (line: string) => void) {
    this.#originUrl = originUrl;
    this.#write = write;
  }

  get #likeness(): Likeness {
    this.#madeLikeness ??= new Likeness();
    return this.#madeLikeness;
  }

  report(event: EdgeEvent): void {
    switch (event.kind) {
      case "answered":
        this.#countAnswer(event);
        return;
      case "answered-by-edge":
        add(this.#answeredByEdge, event.detail);
        return;
      case "origin-asked":
        this.#counts.origin.asked++;
        return;
      case "origin-answered":
        this.#counts.origin.answered++;
        if (event.bytes === null) this.#unmeasuredBodies++;
        else this.#countOriginBytes(event.route, event.url, event.bytes);
        if (this.#originIsDown) this.#write(`The origin ${this.#originUrl} answers again.`);
        this.#originIsDown = false;
        return;
      case "body-measured":
        this.#unmeasuredBodies--;
        this.#countOriginBytes(event.route, event.url, event.bytes);
        return;
      case "origin-failed":
        this.#counts.origin.failed++;
        if (!this.#originIsDown) this.#write(this.#originDownLine(event.because, event.cause));
        this.#originIsDown = true;
        return;
      case "body-cut-off":
        add(this.#discarded, "cut-off");
        return;
      case "fill-discarded":
        add(this.#discarded, event.because);
        return;
      case "not-stored":
        add(this.#refused, event.because);
        this.#top.notStored.add(withoutQuery(event.url), 1, event.because);
        addUnder(this.#routeCounts(event.route).findings, ["refused", event.because], 1);
        if (event.because === "no-freshness") {
          this.#likeness.lacksLifetime(event.url, event.at, this.#routeCounts(event.route).compared);
        }
        if (event.field !== undefined) this.#addUnkeyedField(event.field);
        return;
      case "fetched":
        this.#likeness.stored(event.url, event.stored, event.at, this.#routeCounts(event.route).compared);
        return;
      case "passed-on":
        this.#likeness.passed(event, this.#routeCounts(event.route).compared);
        return;
      case "second-look":
        this.#counts.secondLooks.asked++;
        return;
      case "field-marked":
        this.#counts.secondLooks.marked++;
        return;
      case "stored":
        this.#counts.store.stored++;
        this.#counts.store.storedBytes += event.bytes;
        return;
      case "store-failed":
        this.#counts.store.failed++;
        return;
      case "collapsed":
        this.#counts.collapsed++;
        return;
      case "asked-past-the-cache":
        this.#counts.askedPastTheCache++;
        return;
      case "token-refused":
        this.#counts.tokensRefused++;
        return;
      case "log-read":
        this.#counts.log.reads++;
        this.#purgedKeysRead += event.purges;
        if (this.#logIsDown) this.#write("The purge log answers again.");
        this.#logIsDown = false;
        return;
      case "log-failed":
        this.#counts.log.failedReads++;
        if (event.isPurge) return;
        if (!this.#logIsDown) {
          this.#write(
            `The purge log cannot be reached (${String(event.cause)}). Until it answers, requests go to the origin.`,
          );
        }
        this.#logIsDown = true;
        return;
      case "view-shared":
        this.#counts.log.shared++;
        return;
      case "invalidation-dropped":
        this.#counts.invalidationsDropped++;
        return;
      case "purged":
        this.#counts.purges++;
        return;
      case "failed":
        this.#counts.failures++;
        this.#write(`Tidemark failed on a request and sent it to the origin: ${stackOf(event.cause)}`);
        return;
    }
  }

  /** Begins to time answers. */
  timeBy(timer: Timer): void {
    this.#timer = timer;
  }

  /** Begins to report on the uses of a memory. */
  reportReuse(sample: ReuseSample): void {
    this.#reuse = sample;
  }

  /** `isReportDue` is set by the first answer to a request that arrives at this time or later. */
  reportAt(at: number): void {
    this.#nextReportAt = at;
    this.isReportDue = false;
  }

  /** Everything that the site's ledger adds up, since the isolate started. */
  tree(): { counts: CountTree; routes: CountTree } {
    const routes = Object.fromEntries(
      [...this.#routes].map(([pattern, counts]) => [pattern ?? NO_ROUTE, counts.tree]),
    ) as CountTree;
    const { requests = 0, bytes = {}, times = {} } = sumOfRoutes(routes);
    const counts = {
      ...(this.counts() as CountTree),
      requests: (requests as number) + sum(this.#answeredByEdge.values()),
      fromCache: requestsOf(this.#answers).fromCache,
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

  counts(): Counts {
    const counts = structuredClone(this.#counts);
    return {
      answers: Object.fromEntries(this.#answers),
      answeredByEdge: Object.fromEntries(this.#answeredByEdge),
      ...counts,
      store: {
        ...counts.store,
        refused: Object.fromEntries(this.#refused),
        unkeyedFields: Object.fromEntries(this.#unkeyedFields),
        discarded: Object.fromEntries(this.#discarded),
      },
    };
  }

  #countAnswer(event: AnsweredEvent): void {
    const { xCache, tier } = event;
    add(this.#answers, xCache);
    const route = this.#routeCounts(event.route);
    add(route.answers, xCache);
    route.cachedBytes += event.cachedBytes;
    if (event.arrivedAt >= this.#nextReportAt) this.isReportDue = true;
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

  #time({ times }: RouteCounts, { tier, startedAt }: AnsweredEvent, timer: Timer): number {
    const tookMs = Math.max(0, timer.now() - startedAt);
    times[tier] ??= new TimeSketch();
    times[tier].add(tookMs);
    return tookMs;
  }

  /** Whether the answer will be stored is not known yet. */
  #countOriginBytes(route: string | null, url: string, bytes: number): void {
    this.#routeCounts(route).originBytes += bytes;
    if (bytes > 0) this.#top.bytes.add(withoutQuery(url), bytes);
  }

  #routeCounts(pattern: string | null): RouteCounts {
    const held = this.#routes.get(pattern);
    if (held) return held;
    if (pattern !== OTHERS && this.#routes.size >= MAX_NAMES) return this.#routeCounts(OTHERS);
    const counts = new RouteCounts();
    this.#routes.set(pattern, counts);
    return counts;
  }

  #addUnkeyedField(name: string): void {
    const isCounted = this.#unkeyedFields.has(name) || this.#unkeyedFields.size < MAX_NAMES;
    add(this.#unkeyedFields, isCounted ? name : OTHERS);
  }

  #originDownLine(because: string, cause: unknown): string {
    const why =
      because === "timed-out" ? "took too long to answer" : `cannot be reached, or hung up (${causeWords(cause)})`;
    const status = because === "timed-out" ? 504 : 502;
    return `The origin ${this.#originUrl} ${why}. Pages that are not in the cache get ${status} until it answers.`;
  }
}

/** The runtime reports an unknown host name as an internal error with a reference that does not help the owner. */
function causeWords(cause: unknown): string {
  const text = String(cause).replace(/^Error: /, "");
  return text.startsWith("internal error") ? "no such host name, or the runtime could not connect" : text;
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function stackOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
