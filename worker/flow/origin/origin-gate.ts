import type { ClientRequest } from "../../ports/answer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OriginResponse } from "../../ports/origin.ts";
import type { OriginTalk } from "../../ports/origin-news.ts";
import type { PermitsOf } from "../../ports/origin-permits.ts";
import type { Reporter } from "../../ports/reporter.ts";
import type { Standing } from "../../rules/queueing/client-class.ts";
import type { Capacity } from "../../site/site.ts";
import { type Client, ClientStandings } from "./client-standings.ts";
import { OwnPermits } from "./own-permits.ts";
import { type Permit, PermitQueue, type Place, type QueueCounts } from "./permit-queue.ts";

interface GatePorts {
  readonly clock: Clock;
  readonly random: () => number;
  /** Those that are shared with other isolates. Default: this isolate has all. */
  readonly permitsOf?: PermitsOf | undefined;
  /** Default: no other isolate asks this origin. */
  readonly originTalk?: OriginTalk | undefined;
}

/** After so long without a request that waits, the next one begins a new queue: milliseconds. */
const QUEUE_OVER_MS = 60_000;

const ownPermits: PermitsOf = (_, concurrency) => new OwnPermits(concurrency);

/** Lets as many requests through to the origin as it may have at a time. A cached answer never comes here. */
export class OriginGate {
  readonly #ofSite: PermitQueue;
  /** By the patterns of the routes that have a share of their own. */
  readonly #ofRoutes: ReadonlyMap<string | null, PermitQueue>;
  readonly #standings: ClientStandings;
  readonly #clock: Clock;
  readonly #maxMs: number;
  #queueBeganAt = 0;
  #lastWaitAt = Number.NEGATIVE_INFINITY;

  constructor(
    { concurrency, ofRoutes, queue }: Capacity,
    { clock, random, permitsOf = ownPermits, originTalk }: GatePorts,
  ) {
    const queueOf = (route: string | null, most: number) => new PermitQueue(permitsOf(route, most), queue, clock);
    this.#ofSite = queueOf(null, concurrency);
    this.#ofRoutes = new Map([...ofRoutes].map(([route, most]) => [route, queueOf(route, most)]));
    this.#standings = new ClientStandings(random, originTalk);
    this.#clock = clock;
    this.#maxMs = queue.maxMs;
  }

  get counts(): QueueCounts {
    const all = [this.#ofSite, ...this.#ofRoutes.values()].map(({ counts }) => counts);
    return {
      running: all[0]!.running,
      waiting: all.reduce((sum, { waiting }) => sum + waiting, 0),
      longestWaitMs: Math.max(...all.map(({ longestWaitMs }) => longestWaitMs)),
    };
  }

  /** When to ask again, in whole seconds: those who wait now will have had their turn. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.#maxMs / 1000));
  }

  /** Whether a request of this route would wait. */
  isBusy(route: string | null): boolean {
    return this.#queuesOf(route).some(({ isBusy }) => isBusy);
  }

  /** The place of a request that needs the origin. Its client has had one more. */
  placeOf(client: Client): Place {
    const since = this.#clock.now();
    return { since, ...this.#standings.count(client, since, this.#queueSince(since)) };
  }

  /** Where a request of this client would stand now. */
  standingOf(client: Client): Standing {
    const now = this.#clock.now();
    return this.#standings.withOneMore(client, now, this.#queueSince(now));
  }

  /** Another client waits for the same answer, which has the better place of both. */
  share(place: Place, client: Client): void {
    const queue = [...this.#ofRoutes.values()].find((each) => each.has(place)) ?? this.#ofSite;
    queue.improve(place, this.standingOf(client));
  }

  noteSessions(setCookie: readonly string[], client: Client): void {
    this.#standings.noteSessions(setCookie, client, this.#clock.now());
  }

  /** `null`: the origin is not asked for this request. */
  async enter(
    place: Place,
    route: string | null,
    reporter: Reporter,
    request: Pick<ClientRequest, "noteTurn">,
  ): Promise<Permit | null> {
    place.since = this.#clock.now(); // a request may ask the origin twice
    const permits: Permit[] = [];
    let hasWaited = false;
    for (const queue of this.#queuesOf(route)) {
      const entered = queue.enter(place);
      if (entered instanceof Promise && !hasWaited) {
        hasWaited = true;
        this.#noteWait();
        reporter.report({ kind: "origin-awaited", client: place.client });
      }
      const permit = entered instanceof Promise ? await entered : entered;
      if (permit === null) {
        for (const each of permits) each.end();
        reporter.report({ kind: "origin-turned-away", client: place.client });
        this.#noteTurn(place, request, false);
        return null;
      }
      permits.push(permit);
    }
    if (hasWaited) this.#noteTurn(place, request, true);
    return together(permits);
  }

  #noteTurn({ client, since }: Place, request: Pick<ClientRequest, "noteTurn">, hasCome: boolean): void {
    request.noteTurn?.({ client, waitedMs: this.#clock.now() - since, hasCome });
  }

  /** For work that nobody waits for, which is left out if it would keep a visitor waiting. */
  enterIfIdle(route: string | null): Permit | null {
    const permits: Permit[] = [];
    for (const queue of this.#queuesOf(route)) {
      const permit = queue.enterIfIdle();
      if (permit === null) {
        for (const each of permits) each.end();
        return null;
      }
      permits.push(permit);
    }
    return together(permits);
  }

  /** Those that a request of a route goes through, one after the other: nobody holds a turn of the site for a route's. */
  #queuesOf(route: string | null): readonly PermitQueue[] {
    const ofRoute = this.#ofRoutes.get(route);
    return ofRoute === undefined ? [this.#ofSite] : [ofRoute, this.#ofSite];
  }

  /** When the queue began: epoch milliseconds; now if there is none. */
  #queueSince(now: number): number {
    return now - this.#lastWaitAt < QUEUE_OVER_MS ? this.#queueBeganAt : now;
  }

  #noteWait(): void {
    const now = this.#clock.now();
    this.#queueBeganAt = this.#queueSince(now);
    this.#lastWaitAt = now;
  }
}

function together(permits: readonly Permit[]): Permit {
  if (permits.length === 1) return permits[0]!;
  return {
    end: () => {
      for (const permit of permits) permit.end();
    },
  };
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
