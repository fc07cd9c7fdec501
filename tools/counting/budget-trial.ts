import {
  compareTurns,
  hasWaitedTooLong,
  lastInLine,
  mayWait,
  networkOf,
  nextInLine,
  type QueueLimits,
  RecentCounts,
  TurnsLately,
  type Waiting,
} from "../../internal.ts";
import { FrequentNames } from "./frequent-names.ts";
import { Heap } from "./heap.ts";

/** So many requests at a time at the origin, as `origin` of a site says it. */
export interface Budget {
  readonly concurrency: number;
  readonly queue: QueueLimits;
  /** How long each answer takes: milliseconds. `null`: as long as the log says, or 200 ms if it does not. */
  readonly originMs: number | null;
}

/** A request that a cache would not have answered. */
export interface Miss {
  /** When it was logged: epoch milliseconds. */
  readonly at: number;
  /** The address of the client; empty if it is not known. */
  readonly client: string;
  /** How long the origin took: milliseconds, `null` if it is not known. */
  readonly tookMs: number | null;
  /** For how many misses it stands: a whole number. */
  readonly weight: number;
}

/** What a budget would have done to the misses. */
export interface BudgetOutcome {
  readonly misses: number;
  /** Those of which the log says how long they took. */
  readonly timedByLog: number;
  /** How long an answer takes on average: milliseconds. */
  readonly meanMs: number;
  /** Those that waited and got their turn. */
  readonly waited: number;
  /** How long 99 % of these waited at most, and the one that waited longest: milliseconds. */
  readonly waited99Ms: number;
  readonly longestWaitMs: number;
  /** Those that never got their turn: while too many waited, or within the time that they may wait. */
  readonly turnedAway: { readonly noPlace: number; readonly tooLong: number };
  /** The most at a time without a budget. More than a million are not told apart. */
  readonly mostAtATime: number;
  /** The networks with the most misses, if the log tells addresses. */
  readonly networks: readonly { readonly network: string; readonly misses: number; readonly share: number }[];
}

/** How long an answer takes if nobody says. */
export const DEFAULT_ORIGIN_MS = 200;

/** The most misses of one second that are held. Those after them come at its end. */
const MAX_HELD = 100_000;
const MAX_AT_A_TIME = 1_000_000;
/** A log that tells of more tells of something else than an answer. */
const MAX_ORIGIN_MS = 86_400_000;
const MAX_NETWORKS = 4_096;
const NETWORKS_TOLD = 3;

interface Place extends Waiting {
  readonly originMs: number;
}

/**
 * Lets the misses of a log through to an origin that takes only so many at a time, by the rules of the edge, in the time of
 * the log. A log tells no sessions, so all clients are `other`, and go by the recent misses of their networks. Its memory
 * does not grow with the log.
 */
export class BudgetTrial {
  readonly #budget: Budget;
  /** The misses of the second that is being read, and that second's number. */
  readonly #held: Miss[] = [];
  #second = -Infinity;
  #now = -Infinity;
  /** When each request ends. */
  readonly #running = new Heap(isEarlier);
  readonly #withoutBudget = new Heap(isEarlier);
  /** In the order in which they came. */
  readonly #waiting = new Set<Place>();
  readonly #turnsLately: TurnsLately;
  #turns = 0;
  // The secret keeps clients from choosing who shares their counters. Here the same log must give the same report.
  readonly #recentMisses = new RecentCounts("");
  readonly #networks = new FrequentNames(MAX_NETWORKS);
  /** How many waited how long, by milliseconds. */
  readonly #waits: Float64Array;
  #misses = 0;
  #timedByLog = 0;
  #allMs = 0;
  #noPlace = 0;
  #tooLong = 0;
  #mostAtATime = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#turnsLately = new TurnsLately(budget.queue.maxMs);
    this.#waits = new Float64Array(budget.queue.maxMs + 1);
  }

  /** Takes the next miss, and copies it. One that is older than the one before counts as if it came with that. */
  take({ at, client, tookMs, weight }: Miss): void {
    const second = Math.max(this.#second, Math.floor(at / 1000));
    if (second > this.#second || this.#held.length >= MAX_HELD) this.#playSecond();
    this.#second = second;
    this.#held.push({ at, client, tookMs, weight });
  }

  /** Ends the trial: everybody who waits gets a turn, or has waited too long. */
  end(): BudgetOutcome {
    this.#playSecond();
    this.#passTo(Infinity);
    const waited = this.#waits.reduce((sum, count) => sum + count, 0);
    return {
      misses: this.#misses,
      timedByLog: this.#timedByLog,
      meanMs: this.#misses === 0 ? 0 : Math.round(this.#allMs / this.#misses),
      waited,
      waited99Ms: this.#waitOf(waited * 0.99),
      longestWaitMs: this.#waitOf(waited),
      turnedAway: { noPlace: this.#noPlace, tooLong: this.#tooLong },
      mostAtATime: this.#mostAtATime,
      networks: this.#networks
        .most(NETWORKS_TOLD)
        .map(([network, misses]) => ({ network, misses, share: misses / this.#misses })),
    };
  }

  /**
   * Most logs have whole seconds, and each page of a sample stands for others that came at other times. Such misses are
   * spread over their second; otherwise each comes when the log says.
   */
  #playSecond(): void {
    const misses = this.#held.reduce((sum, { weight }) => sum + weight, 0);
    const isSpread = misses > this.#held.length || this.#held.every(({ at }) => at % 1000 === 0);
    let place = 0;
    for (const miss of this.#held) {
      this.#noteNetwork(miss);
      for (let copy = 0; copy < miss.weight; copy++) {
        const at = isSpread ? this.#second * 1000 + Math.floor((place++ * 1000) / misses) : miss.at;
        this.#come(miss, Math.max(this.#now, at));
      }
    }
    this.#held.length = 0;
  }

  #noteNetwork({ client, weight }: Miss): void {
    if (client !== "") this.#networks.add(networkText(client), weight);
  }

  #come({ client, tookMs }: Miss, now: number): void {
    this.#passTo(now);
    const originMs = Math.min(MAX_ORIGIN_MS, Math.round(this.#budget.originMs ?? tookMs ?? DEFAULT_ORIGIN_MS));
    this.#misses++;
    this.#allMs += originMs;
    if (this.#budget.originMs === null && tookMs !== null) this.#timedByLog++;
    this.#countWithoutBudget(now, originMs);
    const recentMisses = client === "" ? 0 : this.#recentMisses.count(`network ${networkOf(client)}`, now);
    this.#enter({ since: now, client: "other", recentMisses, originMs });
  }

  /** A turn at once, a place among those that wait, or none. */
  #enter(place: Place): void {
    const { since: now } = place;
    const waiting = this.#waiting.size;
    if (waiting === 0 && this.#running.size < this.#budget.concurrency) {
      this.#start(place, now);
      return;
    }
    if (waiting === 0) this.#turnsLately.begin(now);
    const isRoom = mayWait(waiting, this.#turnsLately.at(now), this.#budget.queue);
    if (isRoom || this.#giveUpLast(place)) this.#waiting.add(place);
    else this.#noPlace++;
  }

  /** Sends the last of those who wait away, if a newcomer goes before it. Returns whether it did. */
  #giveUpLast(newcomer: Place): boolean {
    const last = lastInLine(this.#waiting);
    if (last === undefined || compareTurns(newcomer, last) >= 0) return false;
    this.#waiting.delete(last);
    this.#noPlace++;
    return true;
  }

  /** What happens until then: answers end, others have their turns, and some have waited too long. */
  #passTo(now: number): void {
    for (;;) {
      const at = this.#running.first;
      if (at === undefined || at > now) break;
      this.#running.removeFirst();
      this.#sendAway(at);
      const next = nextInLine(this.#waiting, this.#turns);
      if (next !== undefined) this.#giveTurn(next, at);
    }
    this.#sendAway(now);
    this.#now = now;
  }

  #giveTurn(place: Place, now: number): void {
    this.#waiting.delete(place);
    this.#turns++;
    this.#turnsLately.count();
    this.#waits[now - place.since]!++;
    this.#start(place, now);
  }

  #start({ originMs }: Place, now: number): void {
    this.#running.add(now + originMs);
  }

  /** All may wait equally long, so that those who came first are the first who have waited too long. */
  #sendAway(now: number): void {
    for (const place of this.#waiting) {
      if (!hasWaitedTooLong(place, now, this.#budget.queue)) return;
      this.#waiting.delete(place);
      this.#tooLong++;
    }
  }

  #countWithoutBudget(now: number, originMs: number): void {
    while ((this.#withoutBudget.first ?? Infinity) <= now) this.#withoutBudget.removeFirst();
    if (this.#withoutBudget.size < MAX_AT_A_TIME) this.#withoutBudget.add(now + originMs);
    this.#mostAtATime = Math.max(this.#mostAtATime, this.#withoutBudget.size);
  }

  /** The shortest time within which so many of those that waited had their turn. */
  #waitOf(count: number): number {
    let sum = 0;
    const found = this.#waits.findIndex((ofMs) => {
      sum += ofMs;
      return sum >= count;
    });
    return Math.max(0, found);
  }
}

/** The network of a client as people write it: `192.0.2.7`, `2001:db8::/64`. */
function networkText(client: string): string {
  const network = networkOf(client);
  if (!client.includes(":") || !/^\d+$/.test(network)) return network;
  const groups = BigInt(network).toString(16).padStart(16, "0").match(/.{4}/g)!;
  return `${groups
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")
    .replace(/(?::0)+$/, "")}::/64`;
}

function isEarlier(one: number, other: number): boolean {
  return one < other;
}
