import { DatabaseSync } from "node:sqlite";
import {
  Counters,
  canonicalUrl,
  type EdgeAnswer,
  type EdgeEvent,
  Fields,
  memoryAlone,
  NearInvalidations,
  nodeBodies,
  type Site,
  SqlPurgeLog,
  sqlOver,
  startControl,
  startIsolate,
  toWebRequest,
} from "#tidemark/internal";
import { mayHaveSucceeded } from "../logs/logged-request.ts";
import { LoggedOrigin, type ReplayedRequest } from "./logged-origin.ts";
import { ReplayTier } from "./replay-tier.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface ReplaySettings {
  readonly site: Site;
  /** Epoch milliseconds. */
  readonly startAt: number;
  /** The origin's `Cache-Control` on every page; `null` for none. */
  readonly cacheControl: string | null;
  /** The size of a memory tier without a tier behind it; `null` for the site's, with room for everything behind it. */
  readonly memoryBytes: number | null;
}

/** The counts of one edge. */
export interface ReplayCounts {
  readonly requests: number;
  /** Answers by their `X-Cache`; `edge` for those that the edge made itself. */
  readonly answers: Readonly<Record<string, number>>;
  /** Answers from the cache, stale ones too, and the share of all requests that they are. */
  readonly hits: number;
  readonly hitRatio: number;
  readonly stale: number;
  /** Requests that reached the origin, in the background too, and the bytes of its answers. */
  readonly originRequests: number;
  readonly originBytes: number;
  /** The bytes of all bodies that visitors got. */
  readonly bytes: number;
  /** Entries that were evicted from a tier with room for 500,000. */
  readonly evicted: number;
  /** Bugs of the edge. */
  readonly failures: number;
}

/** Requests whose log has no host are for this one. */
const HOST = "www.example.com";

/**
 * A lease that outlasts every log: milliseconds. Only this isolate writes to its purge log, and its view has its own
 * writes at once. Reading the log every few seconds would take a third of the time and change no answer.
 */
const ONE_READ_MS = 100 * 365 * 24 * 3_600_000;

/** Counts only the edge's bugs. Its full stats would take more time than its answers. */
class FailuresAlone extends Counters {
  override report(event: EdgeEvent): void {
    if (event.kind === "failed") super.report(event);
  }
}

/** The edge itself, in this process, at the time of the log: the worker's isolate, with its own tiers. */
export class ReplayedEdge {
  readonly #clock: VirtualClock;
  readonly #origin: LoggedOrigin;
  readonly #tier = new ReplayTier();
  readonly #isolate: ReturnType<typeof startIsolate>;
  readonly #reporter: Counters;
  readonly #answers = new Map<string, number>();
  #working = 0;
  #requests = 0;
  #bytes = 0;

  constructor({ site, startAt, cacheControl, memoryBytes }: ReplaySettings) {
    this.#clock = new VirtualClock(startAt);
    this.#origin = new LoggedOrigin(site.originUrl, this.#clock, cacheControl);
    this.#reporter = new FailuresAlone(site.originUrl, () => undefined);
    const now = () => this.#clock.now();
    const sql = new SqlPurgeLog(sqlOver(new DatabaseSync(":memory:")), {}, now, () => "replay");
    const limits = memoryBytes === null ? site.limits : { ...site.limits, memoryBytes };
    this.#isolate = startIsolate(
      { ...site, limits, purge: { ...site.purge, leaseMs: ONE_READ_MS } },
      {
        clock: this.#clock,
        // The same log gives the same result.
        random: () => 0.5,
        sharedTier: memoryBytes === null ? this.#tier : memoryAlone,
        notes: { read: async () => null, write: async () => undefined },
        origin: this.#origin,
        log: {
          read: async (since, leaseMs) => sql.read(since, leaseMs),
          append: async (purge) => sql.append(purge),
        },
        invalidationsOf: (log, reporter) => new NearInvalidations(log, this.#clock, reporter),
        audit: {
          list: async (before, limit) => sql.list(before, limit),
          find: async (seq) => sql.find(seq),
        },
        // A piece of zeros is part of a larger permanent one, so it is never copied.
        bodies: { ...nodeBodies, read: nodeBodies.readThrough },
        control: (...of) => startControl(...of, toWebRequest),
        fingerprint: async (text) => text,
        // Only the replay itself calls the control plane, to purge.
        tokens: { check: async () => ({ kind: "allowed", name: "replay" }) },
        reporter: this.#reporter,
      },
    );
  }

  /**
   * Replays a request. Resolves with whether it was a hit, once it is answered and all other work only waits for time.
   */
  async play(request: ReplayedRequest): Promise<boolean> {
    this.#clock.goTo(request.at);
    this.#origin.current = request;
    this.#requests++;
    const answer = this.#isolate.fetch({
      request: clientRequest(request),
      url: urlOf(request),
      background: { run: (work) => this.#watch(work) },
      clientAddress: null,
    });
    const name = await this.#receive(answer instanceof Promise ? await answer : answer);
    if (this.#working > 0) await macrotask();
    return name === "HIT" || name === "STALE" || name === "UPDATING";
  }

  /** Purges the page of a call that did so when it was logged, in the one way that every site knows. */
  async purge(request: ReplayedRequest): Promise<void> {
    const url = urlOf(request);
    if (!mayHaveSucceeded(request.status) || canonicalUrl(url).kind === "refused") return;
    this.#clock.goTo(request.at);
    const answer = await this.#isolate.fetch({
      request: { method: "PURGE", headers: new Fields(), body: null, bodyUsed: false },
      url,
      background: { run: (work) => this.#watch(work) },
      clientAddress: null,
    });
    if (answer instanceof Response) await answer.body?.cancel();
  }

  get counts(): ReplayCounts {
    const answers = Object.fromEntries([...this.#answers].sort(([a], [b]) => (a < b ? -1 : 1)));
    const stale = (answers.STALE ?? 0) + (answers.UPDATING ?? 0);
    const hits = (answers.HIT ?? 0) + stale;
    return {
      requests: this.#requests,
      answers,
      hits,
      hitRatio: this.#requests === 0 ? 0 : hits / this.#requests,
      stale,
      originRequests: this.#origin.requests,
      originBytes: this.#origin.bytes,
      bytes: this.#bytes,
      evicted: this.#tier.evicted,
      failures: this.#reporter.counts().failures,
    };
  }

  #watch(work: Promise<unknown>): void {
    this.#working++;
    const done = () => void this.#working--;
    work.then(done, done);
  }

  /** Reads the whole answer, like a visitor. Returns its `X-Cache`. */
  async #receive(answer: EdgeAnswer): Promise<string> {
    const name = (answer instanceof Response ? answer.headers : answer.fields).get("x-cache") ?? "edge";
    this.#answers.set(name, (this.#answers.get(name) ?? 0) + 1);
    if (answer instanceof Response) {
      await answer.body?.cancel();
      return name;
    }
    const { body } = answer;
    if (body === null) return name;
    if (body instanceof Uint8Array) {
      this.#bytes += body.length;
      return name;
    }
    const reader = nodeBodies.readThrough(body);
    for (let piece = await reader.next(); piece !== null; piece = await reader.next()) this.#bytes += piece.length;
    return name;
  }
}

function urlOf({ host, target }: ReplayedRequest): string {
  return `https://${host === "" ? HOST : host}${target}`;
}

/** By then, all work that does not wait for time is done. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function clientRequest({ method, userAgent, status, bytes }: ReplayedRequest) {
  const fields: [string, string][] = [["accept", "*/*"]];
  if (userAgent !== "") fields.push(["user-agent", userAgent.replace(/[^\x20-\x7e]/g, "?")]);
  if (status === 206) fields.push(["range", `bytes=0-${Math.max(0, bytes - 1)}`]);
  return { method, headers: new Fields(fields), body: null, bodyUsed: false };
}
