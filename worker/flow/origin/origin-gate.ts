import type { ClientRequest } from "../../ports/answer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OriginResponse } from "../../ports/origin.ts";
import type { OriginTalk } from "../../ports/origin-news.ts";
import type { OriginPermits } from "../../ports/origin-permits.ts";
import type { Reporter } from "../../ports/reporter.ts";
import { networkOf } from "../../rules/forwarding/trusted-proxies.ts";
import { type Standing, standingOf } from "../../rules/queueing/client-class.ts";
import type { Capacity } from "../../site/site.ts";
import { KnownSessions, sessionsSetBy } from "./known-sessions.ts";
import { OwnPermits } from "./own-permits.ts";
import { type Permit, PermitQueue, type Place, type QueueCounts } from "./permit-queue.ts";
import { RecentCounts } from "./recent-counts.ts";

interface GatePorts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly permits?: OriginPermits | undefined;
  /** Default: no other isolate asks this origin. */
  readonly originTalk?: OriginTalk | undefined;
}

/** Who sent a request that needs the origin, as far as that decides its turn. */
export interface Client {
  /** `null` where it is not known. */
  readonly address: string | null;
  /** Its `Cookie` field; `null` for none. */
  readonly cookieField: string | null;
  readonly isRefresh: boolean;
  /** Whether it has a receipt of this site's log. */
  readonly hasReceipt: boolean;
}

/** After so long without a request that waits, the next one begins a new queue: milliseconds. */
const QUEUE_OVER_MS = 60_000;

/** Lets as many requests through to the origin as it may have at a time. A cached answer never comes here. */
export class OriginGate {
  readonly #queue: PermitQueue;
  readonly #misses: RecentCounts;
  readonly #sessions: KnownSessions;
  readonly #talk: OriginTalk | undefined;
  readonly #clock: Clock;
  readonly #maxMs: number;
  #queueBeganAt = 0;
  #lastWaitAt = Number.NEGATIVE_INFINITY;

  /** `permits`: those that are shared with other isolates. Default: this isolate has all. */
  constructor(
    { concurrency, queue }: Capacity,
    { clock, random, permits = new OwnPermits(concurrency), originTalk }: GatePorts,
  ) {
    const secret = `${random()}${random()}`;
    this.#queue = new PermitQueue(permits, queue, clock);
    this.#misses = new RecentCounts(secret);
    this.#sessions = new KnownSessions(secret, this.#misses);
    this.#talk = originTalk;
    this.#clock = clock;
    this.#maxMs = queue.maxMs;
    if (originTalk) originTalk.onSession = (session) => this.#sessions.note(session);
  }

  get counts(): QueueCounts {
    return this.#queue.counts;
  }

  /** When to ask again, in whole seconds: those who wait now will have had their turn. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.#maxMs / 1000));
  }

  /** The place of a request that needs the origin. Its client has had one more. */
  placeOf(client: Client): Place {
    const since = this.#clock.now();
    return { since, ...this.#standingOf(client, (key) => this.#misses.count(key, since), since) };
  }

  /** Where a request of this client would stand now. */
  standingOf(client: Client): Standing {
    const now = this.#clock.now();
    return this.#standingOf(client, (key) => this.#misses.withOneMore(key, now), now);
  }

  /** Another client waits for the same answer, which has the better place of both. */
  share(place: Place, client: Client): void {
    this.#queue.improve(place, this.standingOf(client));
  }

  /** Notes the sessions that an answer sets for its client. Without an address nobody knows whose they are. */
  noteSessions(setCookie: readonly string[], { address, cookieField }: Client): void {
    if (address === null) return;
    for (const session of sessionsSetBy(setCookie, { cookieField, clientAddress: address, at: this.#clock.now() })) {
      this.#sessions.note(session);
      this.#talk?.tellSession(session);
    }
  }

  /** `countOf` gives the recent misses under a key. Where the client's address is not known, all are equal. */
  #standingOf(client: Client, countOf: (key: string) => number, now: number): Standing {
    const { address, cookieField, isRefresh, hasReceipt } = client;
    const session = this.#sessions.find(cookieField, now);
    const evidence = {
      isRefresh,
      withReceipts: hasReceipt ? countOf("receipts") : null,
      session: session && { setAt: session.setAt, misses: countOf(`session ${session.name}`) },
      ofNetwork: address === null ? 0 : countOf(`network ${networkOf(address)}`),
    };
    return standingOf(evidence, now - this.#lastWaitAt < QUEUE_OVER_MS ? this.#queueBeganAt : now);
  }

  /** `null`: the origin is not asked for this request. */
  async enter(place: Place, reporter: Reporter, request: Pick<ClientRequest, "noteTurn">): Promise<Permit | null> {
    const entered = this.#queue.enter(place);
    if (entered instanceof Promise) {
      this.#noteWait();
      reporter.report({ kind: "origin-awaited", client: place.client });
    }
    const permit = entered instanceof Promise ? await entered : entered;
    const { client, since } = place;
    if (permit === null) reporter.report({ kind: "origin-turned-away", client });
    if (permit === null || entered instanceof Promise) {
      request.noteTurn?.({ client, waitedMs: this.#clock.now() - since, hasCome: permit !== null });
    }
    return permit;
  }

  #noteWait(): void {
    const now = this.#clock.now();
    if (now - this.#lastWaitAt >= QUEUE_OVER_MS) this.#queueBeganAt = now;
    this.#lastWaitAt = now;
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
