import type { Clock } from "../../ports/clock.ts";
import type { OriginResponse } from "../../ports/origin.ts";
import type { OriginPermits } from "../../ports/origin-permits.ts";
import type { Reporter } from "../../ports/reporter.ts";
import type { Capacity } from "../../site/site.ts";
import { OwnPermits } from "./own-permits.ts";
import { type Permit, PermitQueue, type Place, type QueueCounts } from "./permit-queue.ts";
import { RecentMisses } from "./recent-misses.ts";

interface GatePorts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly permits?: OriginPermits | undefined;
}

/** Lets as many requests through to the origin as it may have at a time. A cached answer never comes here. */
export class OriginGate {
  readonly #queue: PermitQueue;
  readonly #misses: RecentMisses;
  readonly #clock: Clock;
  readonly #maxMs: number;

  /** `permits`: those that are shared with other isolates. Default: this isolate has all. */
  constructor({ concurrency, queue }: Capacity, { clock, random, permits = new OwnPermits(concurrency) }: GatePorts) {
    this.#queue = new PermitQueue(permits, queue, clock);
    this.#misses = new RecentMisses(random);
    this.#clock = clock;
    this.#maxMs = queue.maxMs;
  }

  get counts(): QueueCounts {
    return this.#queue.counts;
  }

  /** When to ask again, in whole seconds: those who wait now will have had their turn. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.#maxMs / 1000));
  }

  /** The place of a request that needs the origin. Where the client's address is not known, all are equal. */
  placeOf(clientAddress: string | null): Place {
    const since = this.#clock.now();
    return { since, recentMisses: clientAddress === null ? 0 : this.#misses.count(clientAddress, since) };
  }

  /** Another client waits for the same answer, which has the better place of both. */
  share(place: Place, clientAddress: string | null): void {
    const now = this.#clock.now();
    this.#queue.improve(place, clientAddress === null ? 0 : this.#misses.withOneMore(clientAddress, now));
  }

  /** `null`: the origin is not asked for this request. */
  async enter(place: Place, reporter: Reporter): Promise<Permit | null> {
    const entered = this.#queue.enter(place);
    if (entered instanceof Promise) reporter.report({ kind: "origin-awaited" });
    const permit = entered instanceof Promise ? await entered : entered;
    if (permit === null) reporter.report({ kind: "origin-turned-away" });
    return permit;
  }

  /** For work that nobody waits for, which is left out if it would keep a visitor waiting. */
  enterIfIdle(): Permit | null {
    return this.#queue.enterIfIdle();
  }
}

/**
 * Ends the permit with the last byte of the answer. A stream of events has no last byte, so that its permit ends with its
 * head.
 */
export function endWith({ fields, ended }: OriginResponse, permit: Permit): void {
  const isEndless = /^\s*text\/event-stream\b/i.test(fields.get("content-type") ?? "");
  if (ended === undefined || isEndless) permit.end();
  else void ended().then(permit.end);
}
