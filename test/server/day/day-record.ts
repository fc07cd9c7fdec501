import { type Answered, type Fetched, History, type Knowledge, type Purged } from "../../simulation/history.ts";
import { type Bounds, brokenPromises } from "../../simulation/promises.ts";
import type { VirtualTime } from "./virtual-time.ts";

const BOUNDS: Bounds = {
  knowledgeMs: () => Number.POSITIVE_INFINITY,
  leaseMs: 0,
  // What the edge may be wrong by: a clock's tolerance, and the seconds of `Age`.
  skewMs: 1_000,
  lateMs: 1,
  softForMs: 60_000,
  knownDownMs: 90_000, // `OriginState`: a minute, and the time of an answer
  staleWhileSilent: false,
};

/** An answer, as its visitor tells of it. */
export type ToldAnswer = Omit<Answered, "fetched" | "confirmed" | "chosenBy" | "givenBy" | "parent"> & {
  readonly fetch: number;
  readonly validation: number;
  /** When visitors could first ask the worker that has answered. */
  readonly workerSince: number;
};

/**
 * What the origin, the visitors and the callers of purges saw. It is judged by the promises of the simulation, part by
 * part, so that a day need not be kept.
 */
export class DayRecord {
  readonly #time: VirtualTime;
  readonly #fetches: Fetched[] = [];
  readonly #broken: string[] = [];
  /** Steps of the wall clock back, by which pages count as younger than they are. */
  readonly #steppedBack: { readonly at: number; readonly byMs: number }[] = [];
  readonly purges: Purged[] = [];
  /** Those that all workers had confirmed when their receipts came. */
  readonly #confirmed = new Set<Purged>();
  /** While it is true, nobody reaches the origin, so that it cannot tell for which pages it fails. */
  isOriginGone = false;
  /** How often visitors saw each word of `X-Cache`, and each status. */
  readonly seen = new Map<string, number>();
  #history = new History();
  #order = 0;
  #judged = 0;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** The answers that were judged. */
  get answers(): number {
    return this.#judged;
  }

  get fetches(): number {
    return this.#fetches.length;
  }

  nextOrder(): number {
    return ++this.#order;
  }

  fetched(fetch: Omit<Fetched, "number" | "receivedAt">): Fetched {
    const fetched = { ...fetch, number: this.#fetches.length, receivedAt: this.#time.elapsed };
    this.#fetches.push(fetched);
    return fetched;
  }

  /** The origin has failed for a page, or could not be reached. */
  failed(target: string): void {
    this.#history.failures.push({ target, at: this.#time.elapsed });
  }

  purged(purge: Purged): void {
    this.purges.push(purge);
  }

  confirmed(purge: Purged): void {
    this.#confirmed.add(purge);
  }

  steppedBack(byMs: number): void {
    this.#steppedBack.push({ at: this.#time.elapsed, byMs });
  }

  asked(request: string, target: string): void {
    this.#history.unanswered.add(request);
    if (this.isOriginGone) this.failed(target);
  }

  count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }

  /** It was answered, though perhaps with nothing that can be judged. */
  ended(request: string): void {
    this.#history.unanswered.delete(request);
  }

  answered({ fetch, validation, workerSince, ...told }: ToldAnswer): void {
    const fetched = this.#fetches[fetch];
    const confirmed = this.#fetches[validation];
    if (!fetched || !confirmed) {
      this.broke(`${told.request} was shown what the origin never sent`);
      return;
    }
    const knows = this.#knowledgeAt(told.arrivedAt, workerSince);
    const receivedAt = this.#byTheClock(confirmed.receivedAt, told.arrivedAt);
    const younger = { ...confirmed, receivedAt };
    const shown = { fetched: fetch === validation ? younger : fetched, confirmed: younger };
    this.#history.answers.push({ ...told, ...shown, parent: null, chosenBy: knows, givenBy: knows });
  }

  /** The edge has answered with an error of its own. */
  failedToAnswer(request: string, target: string, arrivedAt: number): void {
    this.#history.errors.push({ request, target, arrivedAt });
  }

  broke(words: string): void {
    this.#broken.push(`${new Date(this.#time.elapsed).toISOString().slice(11, 19)}: ${words}`);
  }

  /** Judges what was seen since the last time. Call it while no request is under way. */
  judge(): readonly string[] {
    const history = this.#history;
    this.#history = new History();
    history.purges.push(...this.purges);
    this.#judged += history.answers.length;
    for (const { words } of brokenPromises(history, BOUNDS)) this.broke(words);
    return this.#broken;
  }

  /**
   * What a worker has to know by then: the purges that it has confirmed. It learns of those from before its start when
   * it starts (R10). Of all others that were sent by then it may know, and may have learned just now: of one whose
   * receipt is still under way, or of one that settles by the lease, when it is asked next.
   */
  #knowledgeAt(now: number, workerSince: number): Knowledge {
    const forEver = Number.POSITIVE_INFINITY;
    const lastSent = this.#order;
    const heardAt = (purge: Purged) => {
      const { settledAt } = purge;
      if (settledAt >= now || !this.#confirmed.has(purge)) return null;
      return this.#byTheClock(Math.max(settledAt, workerSince), now);
    };
    const heardAtLast = (purge: Purged) => heardAt(purge) ?? (purge.order <= lastSent ? now : null);
    return { heardAt, heardAtLast, lease: { askedAt: forEver, until: forEver } };
  }

  /** A moment of the past as the wall clock has it, which may have been set back since. */
  #byTheClock(moment: number, now: number): number {
    const since = this.#steppedBack.filter(({ at }) => at >= moment && at <= now);
    return since.reduce((sum, { byMs }) => sum + byMs, moment);
  }
}
