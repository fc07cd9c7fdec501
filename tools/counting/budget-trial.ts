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
} from "#tidemark/internal";
import { FrequentNames } from "./frequent-names.ts";
import { Heap } from "./heap.ts";

/** The limit of requests at the origin, as in a site's `origin`. */
export interface Budget {
  readonly concurrency: number;
  readonly queue: QueueLimits;
  /** How long each answer takes: milliseconds. `null`: as the log says, else the average so far, else 200 ms. */
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
  /** How many misses it represents: a whole number. */
  readonly weight: number;
}

/** What a budget would have done to the misses. */
export interface BudgetOutcome {
  readonly misses: number;
  /** Those whose duration is in the log. */
  readonly timedByLog: number;
  /** How long an answer takes on average: milliseconds. */
  readonly meanMs: number;
  /** Those that waited and got their turn. */
  readonly waited: number;
  /** The longest wait of 99 % of these, and the longest of all: milliseconds. */
  readonly waited99Ms: number;
  readonly longestWaitMs: number;
  /** Those that got no turn: because the queue was full, or because the time to wait was over. */
  readonly turnedAway: { readonly noPlace: number; readonly tooLong: number };
  /** The most at a time without a budget; at most a million. */
  readonly mostAtATime: number;
  /** The networks with the most misses, if the log has addresses. */
  readonly networks: readonly { readonly network: string; readonly misses: number; readonly share: number }[];
}

/** How long an answer takes if neither log nor owner says. */
export const DEFAULT_ORIGIN_MS = 200;

/** The most misses of one second that are held. Further ones count at its end. */
const MAX_HELD = 100_000;
const MAX_AT_A_TIME = 1_000_000;
/** A longer time in a log is not the duration of an answer. */
const MAX_ORIGIN_MS = 86_400_000;
const MAX_NETWORKS = 4_096;
const NETWORKS_TOLD = 3;

interface Place extends Waiting {
  readonly originMs: number;
}

/**
 * Simulates an origin with a limit: it lets the misses of a log through by the edge's own rules, in the log's time. A
 * log shows no sessions, so all clients are `other`, ordered by the recent misses of their networks. Memory does not
 * grow with the log.
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
  /** In their order of arrival. */
  readonly #waiting = new Set<Place>();
  readonly #turnsLately: TurnsLately;
  #turns = 0;
  // In the edge, the secret keeps clients from choosing with whom they share counters. Here it is fixed, so that the
  // same log gives the same report.
  readonly #recentMisses = new RecentCounts("");
  readonly #networks = new FrequentNames(MAX_NETWORKS);
  /** How many waited how long, by milliseconds. */
  readonly #waits: Float64Array;
  #misses = 0;
  #timedByLog = 0;
  #timedMs = 0;
  #allMs = 0;
  #noPlace = 0;
  #tooLong = 0;
  #mostAtATime = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
    this.#turnsLately = new TurnsLately(budget.queue.maxMs);
    this.#waits = new Float64Array(budget.queue.maxMs + 1);
  }

  /** Takes the next miss, and copies it. A miss that is older than the previous one counts at that one's time. */
  take({ at, client, tookMs, weight }: Miss): void {
    const second = Math.max(this.#second, Math.floor(at / 1000));
    if (second > this.#second || this.#held.length >= MAX_HELD) this.#playSecond();
    this.#second = second;
    this.#held.push({ at, client, tookMs, weight });
  }

  /** Ends the trial: each waiting miss gets a turn, or has waited too long. */
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
   * Most logs have whole seconds, and a sampled page represents others that came at other times. Such misses are spread
   * over their second; otherwise each counts at its logged time.
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
    const originMs = Math.min(MAX_ORIGIN_MS, Math.round(this.#budget.originMs ?? tookMs ?? this.#usualMs));
    this.#misses++;
    this.#allMs += originMs;
    if (this.#budget.originMs === null && tookMs !== null) {
      this.#timedByLog++;
      this.#timedMs += originMs;
    }
    this.#countWithoutBudget(now, originMs);
    const recentMisses = client === "" ? 0 : this.#recentMisses.count(`network ${networkOf(client)}`, now);
    this.#enter({ since: now, client: "other", recentMisses, originMs });
  }

  /** The average of the answers so far whose durations are in the log. */
  get #usualMs(): number {
    return this.#timedByLog === 0 ? DEFAULT_ORIGIN_MS : this.#timedMs / this.#timedByLog;
  }

  /** A turn at once, a place in the queue, or neither. */
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

  /** Removes the last miss in the queue if a newcomer goes before it. Returns whether it did. */
  #giveUpLast(newcomer: Place): boolean {
    const last = lastInLine(this.#waiting);
    if (last === undefined || compareTurns(newcomer, last) >= 0) return false;
    this.#waiting.delete(last);
    this.#noPlace++;
    return true;
  }

  /** Simulates the time until then: answers end, waiting misses get turns, and some have waited too long. */
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

  /** All may wait equally long, so the first to arrive is the first to have waited too long. */
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

  /** The shortest time within which this many of the waiting misses got their turn. */
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
