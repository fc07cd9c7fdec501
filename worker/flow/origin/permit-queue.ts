import type { Clock } from "../../ports/clock.ts";
import type { OriginPermits } from "../../ports/origin-permits.ts";
import type { Standing } from "../../rules/queueing/client-class.ts";
import {
  compareStandings,
  compareTurns,
  hasWaitedTooLong,
  lastInLine,
  mayWait,
  mostWaiting,
  nextInLine,
  type QueueLimits,
  type Waiting,
} from "../../rules/queueing/queue-order.ts";
import { TurnsLately } from "../../rules/queueing/turns-lately.ts";

/**
 * A permit is lost when its request has given no sign of life for so long: milliseconds. On Workers the code of a request
 * may end at any point, at the latest 30 s after its client has left.
 */
const LOST_AFTER_MS = 30_000;

/** The right to have one request at the origin. */
export interface Permit {
  /** A sign of life of the request. */
  note(): void;
  /** The origin has sent its last byte, or will not. A second call changes nothing. */
  end(): void;
}

/** Where a request waits, or would wait. */
export interface Place extends Waiting {
  /** It restarts with each wait. */
  since: number;
  /** It goes by the best of all clients who wait for its answer. */
  client: Standing["client"];
  recentMisses: number;
  /** When it had its turn, if it waited for that: epoch milliseconds. */
  turnAt?: number;
}

/** The requests of a queue at one moment. */
export interface QueueCounts {
  readonly running: number;
  readonly waiting: number;
  /** The most that may wait, as many as have their turn in time. */
  readonly maxWaiting: number;
  readonly longestWaitMs: number;
}

/** Says to a request that it has its turn, or gets none. */
type Tell = (permit: Permit | null) => void;

/** The requests of this isolate that are at the origin, or wait for their turn there. */
export class PermitQueue {
  readonly #permits: OriginPermits;
  readonly #limits: QueueLimits;
  readonly #clock: Clock;
  readonly #losesRequests: boolean;
  readonly #waiting = new Map<Waiting, Tell>();
  readonly #turnsLately: TurnsLately;
  /** When the request of each permit gave its last sign of life: the oldest first. */
  readonly #held = new Map<Permit, number>();
  /**
   * The request that makes room for others; `undefined` until somebody asks. A flood asks far more often than it
   * changes.
   */
  #last: Waiting | undefined;
  /** How many of those that waited have had their turn. */
  #turns = 0;

  /** `losesRequests`: a request may end without giving back its permit. */
  constructor(permits: OriginPermits, limits: QueueLimits, clock: Clock, losesRequests = false) {
    this.#permits = permits;
    this.#limits = limits;
    this.#losesRequests = losesRequests;
    this.#turnsLately = new TurnsLately(limits.maxMs);
    this.#clock = clock;
    permits.onFree = () => this.#serve();
    permits.onBrought = (waiting) => {
      if (this.#waiting.has(waiting)) this.#serveOne(waiting);
    };
  }

  /** Whether a request waits. */
  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Requests at the origin, those that wait for their turn, how many may, and how long the first of these has waited. */
  get counts(): QueueCounts {
    const now = this.#clock.now();
    let longestWaitMs = 0;
    // One that has waited for its route's turn before came earlier than its place in the map says.
    for (const { since } of this.#waiting.keys()) longestWaitMs = Math.max(longestWaitMs, now - since);
    const waiting = this.#waiting.size;
    const maxWaiting = mostWaiting(waiting === 0 ? null : this.#turnsLately.at(now), this.#limits);
    return { running: this.#held.size, waiting, maxWaiting, longestWaitMs };
  }

  /** For work that nobody waits for: a permit that is of no use to those who wait. `null` for none. */
  enterIfIdle(): Permit | null {
    this.#endLost(this.#clock.now());
    if (this.#waiting.size > 0) return null;
    if (this.#permits.take()) return this.#permit();
    this.#permits.bringWhenIdle?.();
    return null;
  }

  /**
   * A permit at once, or one to wait for; `null` if as many wait already as may, and all of them before it, if another has
   * come who goes before it, or if it has waited as long as it may since it came.
   */
  enter(place: Place): Permit | null | Promise<Permit | null> {
    const now = this.#clock.now();
    this.#endLost(now);
    const waiting = this.#waiting.size;
    if (waiting === 0 && this.#permits.take()) return this.#permit();
    if (waiting === 0) this.#turnsLately.begin(now);
    if (hasWaitedTooLong(place, now, this.#limits) || this.isFullFor(place)) return null;
    if (!this.#isRoom) this.#leave(this.#last!, null);
    return this.#wait(place, now);
  }

  /** Whether as many wait as may, and all of them before this one. */
  isFullFor(newcomer: Waiting): boolean {
    return !this.#isRoom && !this.#goesBeforeLast(newcomer);
  }

  get #isRoom(): boolean {
    return mayWait(this.#waiting.size, this.#turnsLately.at(this.#clock.now()), this.#limits);
  }

  /** A client with a better place waits for the same answer, and the request takes that place. */
  improve(place: Place, standing: Standing): void {
    if (compareStandings(standing, place) >= 0) return;
    const isWaiting = this.#waiting.has(place);
    if (isWaiting) this.#permits.stopBringing?.(place);
    Object.assign(place, standing);
    this.#last = undefined;
    if (isWaiting) this.#permits.bring?.(place);
  }

  /** The request does not want its turn any more. */
  giveUp(place: Place): void {
    this.#leave(place, null);
  }

  /** Whether a request waits here. */
  has(place: Place): boolean {
    return this.#waiting.has(place);
  }

  #goesBeforeLast(newcomer: Waiting): boolean {
    this.#last ??= lastInLine(this.#waiting.keys());
    return this.#last !== undefined && compareTurns(newcomer, this.#last) < 0;
  }

  #wait(place: Place, now: number): Promise<Permit | null> {
    // Some of its time may be over; if it came later than now, the clock was set back.
    const patience = this.#clock.wait(this.#limits.maxMs - Math.max(0, now - place.since));
    return new Promise((resolve) => {
      const tell: Tell = (permit) => {
        patience.cancel();
        resolve(permit);
      };
      // On Workers another request cannot clear the timer, and the place may wait again when it ends.
      void patience.over.then(() => this.#waiting.get(place) === tell && this.#leave(place, null));
      this.#waiting.set(place, tell);
      if (this.#last && compareTurns(place, this.#last) >= 0) this.#last = place;
      this.#permits.bring?.(place);
    });
  }

  /** Gives the free permits to those whose turn it is. */
  #serve(): void {
    for (;;) {
      const next = nextInLine(this.#waiting.keys(), this.#turns);
      if (next === undefined || !this.#serveOne(next)) return;
    }
  }

  /** Returns whether there may be one for others, too. */
  #serveOne(waiting: Waiting): boolean {
    // The timer of a request that is lost never rings. That of any other says when its wait is over, whatever the clock does.
    if (this.#losesRequests && hasWaitedTooLong(waiting, this.#clock.now(), this.#limits)) {
      this.#leave(waiting, null);
      return true;
    }
    if (!this.#permits.take()) return false;
    this.#turns++;
    this.#turnsLately.count();
    this.#leave(waiting, this.#permit());
    return true;
  }

  #leave(waiting: Waiting, permit: Permit | null): void {
    const tell = this.#waiting.get(waiting);
    if (tell === undefined) return;
    this.#waiting.delete(waiting);
    this.#last = undefined;
    this.#permits.stopBringing?.(waiting);
    tell(permit);
  }

  #permit(): Permit {
    const held = this.#held;
    const permit: Permit = {
      note: () => {
        if (held.delete(permit)) held.set(permit, this.#clock.now());
      },
      end: () => {
        if (held.delete(permit)) this.#permits.giveBack();
      },
    };
    held.set(permit, this.#clock.now());
    return permit;
  }

  #endLost(now: number): void {
    if (!this.#losesRequests) return;
    for (const [permit, seenAt] of this.#held) {
      if (now - seenAt <= LOST_AFTER_MS) return;
      permit.end();
    }
  }
}
