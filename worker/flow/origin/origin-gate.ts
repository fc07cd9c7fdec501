import type { ClientRequest } from "../../ports/answer.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OriginAnswer } from "../../ports/origin.ts";
import type { OriginTalk } from "../../ports/origin-news.ts";
import { type PermitsOf, STREAMS } from "../../ports/origin-permits.ts";
import type { Reporter } from "../../ports/reporter.ts";
import { isEventStream } from "../../rules/forwarding/event-stream.ts";
import type { Standing } from "../../rules/queueing/client-class.ts";
import { BROUGHT_WITHIN_MS } from "../../rules/queueing/queue-order.ts";
import type { Capacity } from "../../site/site.ts";
import { type Client, ClientStandings } from "./client-standings.ts";
import { OriginTurn } from "./origin-turn.ts";
import { OwnPermits } from "./own-permits.ts";
import { PermitQueue, type Place, type QueueCounts } from "./permit-queue.ts";

interface GatePorts {
  readonly clock: Clock;
  readonly random: () => number;
  /** The permits that are shared with other isolates. Default: this isolate has all. */
  readonly permitsOf?: PermitsOf | undefined;
  /** Whether a request may end without giving back its permits. Default: it does not. */
  readonly losesRequests?: boolean | undefined;
  /** Default: no other isolate asks this origin. */
  readonly originTalk?: OriginTalk | undefined;
}

/** After so long without a request that waits, the next one begins a new queue: milliseconds. */
const QUEUE_OVER_MS = 60_000;

/** A place among streams seldom becomes free, and a request that waits for one may hold a turn of the site: milliseconds. */
const LONGEST_WAIT_FOR_STREAM_MS = 1000;

const ownPermits: PermitsOf = (_, concurrency) => new OwnPermits(concurrency);

/** What a request asks the origin for. */
interface AskedFor {
  /** The pattern of its route; `null` for none. */
  readonly route: string | null;
  /** Whether it asks for an upgraded connection or a stream of events. */
  readonly asksForStream: boolean;
  /** Whether it waits even if its client has left, because others may get its answer. */
  readonly isForOthers: boolean;
  /** When it began to wait, if it did so elsewhere: epoch milliseconds. Default: now. */
  readonly inLineSince?: number | undefined;
}

/** The request that waits. */
type WaitingRequest = Pick<ClientRequest, "noteTurn" | "onceLeft">;

/** Lets as many requests through to the origin as it may have at a time. A cached answer never comes here. */
export class OriginGate {
  readonly #ofSite: PermitQueue;
  /** By the patterns of the routes that have a share of their own. */
  readonly #ofRoutes: ReadonlyMap<string | null, PermitQueue>;
  /** Of upgraded connections and streams of events; `null` without a limit. */
  readonly #ofStreams: PermitQueue | null;
  readonly #standings: ClientStandings;
  readonly #clock: Clock;
  readonly #maxMs: number;
  /** The requests that have had a turn. */
  readonly #served = new WeakSet<WaitingRequest>();
  #queueBeganAt = 0;
  #queueUntil = 0;

  constructor(
    { concurrency, ofRoutes, streams, queue }: Capacity,
    { clock, random, permitsOf = ownPermits, losesRequests, originTalk }: GatePorts,
  ) {
    const queueOf = (part: string | null, most: number, limits = queue) =>
      new PermitQueue(permitsOf(part, most), limits, clock, losesRequests);
    this.#ofSite = queueOf(null, concurrency);
    this.#ofRoutes = new Map([...ofRoutes].map(([route, most]) => [route, queueOf(route, most)]));
    const ofStreams = { ...queue, maxMs: Math.min(queue.maxMs, LONGEST_WAIT_FOR_STREAM_MS) };
    this.#ofStreams = streams === null ? null : queueOf(STREAMS, streams, ofStreams);
    this.#standings = new ClientStandings(random, originTalk);
    this.#clock = clock;
    this.#maxMs = queue.maxMs;
  }

  /** Of all queues in which somebody waits: one that is full shows, however many are empty. */
  get counts(): QueueCounts {
    const all = this.#queues.map(({ counts }) => counts);
    const ofSite = all[0]!;
    const busy = all.filter(({ waiting }) => waiting > 0);
    if (busy.length === 0) return ofSite;
    return {
      running: ofSite.running,
      waiting: busy.reduce((sum, { waiting }) => sum + waiting, 0),
      maxWaiting: busy.reduce((sum, { maxWaiting }) => sum + maxWaiting, 0),
      longestWaitMs: Math.max(...busy.map(({ longestWaitMs }) => longestWaitMs)),
    };
  }

  /** When to ask again, in whole seconds: those who wait now will have had their turn. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(this.#maxMs / 1000));
  }

  /** The first queue in which others wait before a request of this route. */
  queueAhead(route: string | null, asksForStream = false): PermitQueue | undefined {
    return this.#queuesOf(route, asksForStream).find(({ isBusy }) => isBusy);
  }

  /** Whether a request of this client would go before all others that wait. */
  goesFirst(route: string | null, client: Client): boolean {
    return this.queueAhead(route) !== undefined && this.standingOf(client).client === "editor";
  }

  /** The place of a request that needs the origin. Its client has had one more. */
  placeOf(client: Client): Place {
    const since = this.#clock.now();
    return { since, ...this.#standings.standingOf(client, since, this.#queueSince(since), "count") };
  }

  /** The place that a request of this client would get now. */
  standingOf(client: Client): Standing {
    const now = this.#clock.now();
    return this.#standings.standingOf(client, now, this.#queueSince(now), "withOneMore");
  }

  /** Another client waits for the same answer, so the fetch gets the better of both places. */
  share(place: Place, client: Client): void {
    const queue = this.#queues.find((each) => each.has(place));
    (queue ?? this.#ofSite).improve(place, this.standingOf(client));
  }

  noteSessions(setCookie: readonly string[], client: Client): void {
    this.#standings.noteSessions(setCookie, client, this.#clock.now());
  }

  /** `asksForStream`: its answer takes a place among the streams. `null`: the origin is not asked for this request. */
  async enter(
    place: Place,
    { route, asksForStream, isForOthers, inLineSince = this.#clock.now() }: AskedFor,
    reporter: Reporter,
    request: WaitingRequest,
  ): Promise<OriginTurn | null> {
    // A request may ask the origin twice.
    place.since = this.#served.has(request) ? this.#clock.now() : inLineSince;
    let hasLeft = false;
    let hasWaited = false;
    const turn = this.#newTurn(place, () => {
      this.#endWait(place, undefined, hasWaited, hasLeft ? null : reporter, request);
    });
    for (const queue of this.#queuesOf(route, asksForStream)) {
      const entered = queue.enter(place);
      if (entered instanceof Promise && !hasWaited) {
        hasWaited = true;
        this.#noteWait(this.#clock.now());
        reporter.report({ kind: "origin-awaited", client: place.client });
      }
      const leave = () => {
        hasLeft = true;
        queue.giveUp(place);
      };
      const stay = entered instanceof Promise && !isForOthers ? request.onceLeft?.(leave) : undefined;
      const permit = entered instanceof Promise ? await entered : entered;
      stay?.();
      const now = this.#clock.now();
      if (now - place.since >= BROUGHT_WITHIN_MS || (permit === null && !hasLeft)) this.#noteQueue(place.since, now);
      if (!turn.hold(permit, queue === this.#ofStreams)) return null;
    }
    if (hasWaited) {
      place.turnAt = this.#clock.now();
      this.#endWait(place, place.turnAt, true, reporter, request);
    }
    this.#served.add(request);
    return turn;
  }

  /** A request has waited with the fetch of another until that had its turn or, without `turnAt`, gets none. */
  endWaitOf(
    asked: Client,
    since: number,
    turnAt: number | undefined,
    reporter: Reporter,
    request: WaitingRequest,
  ): void {
    this.#endWait({ client: this.standingOf(asked).client, since }, turnAt, false, reporter, request);
  }

  /** `isCounted`: as one that waits, since it began to. */
  #endWait(
    { client, since }: Pick<Place, "client" | "since">,
    turnAt: number | undefined,
    isCounted: boolean,
    reporter: Reporter | null,
    request: WaitingRequest,
  ): void {
    const waitedMs = (turnAt ?? this.#clock.now()) - since;
    if (waitedMs > 0 && !isCounted) reporter?.report({ kind: "origin-awaited", client });
    if (turnAt === undefined) reporter?.report({ kind: "origin-turned-away", client });
    request.noteTurn?.({ client, waitedMs, hasCome: turnAt !== undefined });
  }

  /** For work that nobody waits for, which is left out if it would keep a visitor waiting. */
  enterIfIdle(route: string | null): OriginTurn | null {
    const turn = this.#newTurn(null, () => undefined);
    const isLetThrough = this.#queuesOf(route).every((queue) => turn.hold(queue.enterIfIdle()));
    return isLetThrough ? turn : null;
  }

  /** Whether a request of this route would have to wait. */
  isBusy(route: string | null): boolean {
    const turn = this.enterIfIdle(route);
    turn?.end();
    return turn === null;
  }

  /** `place`: the request's own; it may need one among the streams later. `null` if nobody waits for it. */
  #newTurn(place: Place | null, onTurnedAway: () => void): OriginTurn {
    const ofStreams = this.#ofStreams;
    if (ofStreams === null) return new OriginTurn(null, onTurnedAway);
    const enterStreams = async () => {
      if (place === null) return ofStreams.enterIfIdle();
      place.since = this.#clock.now();
      return ofStreams.enter(place);
    };
    return new OriginTurn(enterStreams, onTurnedAway);
  }

  /** The site's own comes first. */
  get #queues(): readonly PermitQueue[] {
    const all = [this.#ofSite, ...this.#ofRoutes.values()];
    return this.#ofStreams ? [...all, this.#ofStreams] : all;
  }

  /**
   * The queues that a request goes through, one after the other, so that no request holds a turn of the site while it
   * waits for a turn of the route.
   */
  #queuesOf(route: string | null, asksForStream = false): readonly PermitQueue[] {
    const ofRoute = this.#ofRoutes.get(route);
    const queues = ofRoute === undefined ? [this.#ofSite] : [ofRoute, this.#ofSite];
    return asksForStream && this.#ofStreams ? [this.#ofStreams, ...queues] : queues;
  }

  /** When the queue began: epoch milliseconds; now if there is none. */
  #queueSince(now: number): number {
    return now < this.#queueUntil ? this.#queueBeganAt : now;
  }

  /** A request begins to wait. A permit may be on its way to it, so that this is no queue for longer than that takes. */
  #noteWait(now: number): void {
    if (now < this.#queueUntil) return;
    this.#queueBeganAt = now;
    this.#queueUntil = now + BROUGHT_WITHIN_MS;
  }

  /** A request that came at `since` has waited because the origin was busy. */
  #noteQueue(since: number, now: number): void {
    this.#queueBeganAt = Math.min(this.#queueSince(now), since);
    this.#queueUntil = now + QUEUE_OVER_MS;
  }
}

/**
 * Ends the turn with the last byte of the answer. Of a stream, the turn ends with the head, and its place among the
 * streams with the stream. False if there is no place for it.
 */
export async function endWith(answer: OriginAnswer, turn: OriginTurn): Promise<boolean> {
  if (answer.kind === "switched") return turn.becomeStream(answer.ended);
  if (answer.kind === "failed") return true;
  const { fields, ended } = answer.response;
  if (isEventStream(fields.get("content-type"))) return turn.becomeStream(ended);
  if (ended === undefined) turn.end();
  else void ended().then(turn.end);
  return true;
}
