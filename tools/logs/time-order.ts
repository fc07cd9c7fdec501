import { LoggedRequest } from "./logged-request.ts";

/**
 * The window: a request waits until a request that is this many seconds later arrives, or until more than this many
 * wait. A long one counts for several.
 */
export interface OrderWindow {
  readonly seconds: number;
  readonly maxHeld: number;
}

/** CloudFront and load balancers write a file every five minutes, and nginx's buffers are rarely slower. */
export const ORDER_WINDOW: OrderWindow = { seconds: 600, maxHeld: 100_000 };

/** The characters of a request that counts for one. Common ones have a quarter, those of attacks thousands. */
const CHARS_OF_ONE = 1024;

/** The requests of one second. */
interface Second {
  readonly requests: LoggedRequest[];
  isInOrder: boolean;
}

/**
 * Puts requests in order of time within a window. A request waits until a request later by the window arrives, or until
 * too many wait. A late request is handed on at once, with its logged time; a consumer that follows the time must not
 * go back because of it. Requests of the same time keep their order.
 */
export class TimeOrder {
  /** Requests that are older than an earlier one, including those that came too late for the window. */
  outOfOrder = 0;
  /** Requests that came after a later one had been handed on. */
  late = 0;
  readonly #take: (request: LoggedRequest) => void;
  readonly #window: OrderWindow;
  /** The seconds of the window, each at its number modulo their count. */
  readonly #seconds: readonly Second[];
  /** Objects for reuse. */
  readonly #spare: LoggedRequest[] = [];
  #held = 0;
  /** The latest time that arrived, and the latest that was handed on: epoch milliseconds. */
  #newestAt = -Infinity;
  #handedOnAt = -Infinity;
  /** The last second without waiting requests. */
  #doneTo = -Infinity;

  /** `take` must copy requests that it keeps. */
  constructor(take: (request: LoggedRequest) => void, window: OrderWindow = ORDER_WINDOW) {
    this.#take = take;
    this.#window = window;
    this.#seconds = Array.from({ length: window.seconds + 1 }, () => ({ requests: [], isInOrder: true }));
  }

  /** Adds a request, and copies it. */
  add(request: LoggedRequest): void {
    const second = Math.floor(request.at / 1000);
    if (request.at < this.#newestAt) this.outOfOrder++;
    else {
      this.#handOnTo(second - this.#window.seconds - 1);
      this.#newestAt = request.at;
    }
    // All waiting requests are later than this.
    if (second <= this.#doneTo) this.#handOn(request);
    else this.#hold(second, request);
    while (this.#held > this.#window.maxHeld) this.#handOnTo(this.#doneTo + 1);
  }

  /** Hands on all waiting requests, because no more will come. */
  end(): void {
    this.#handOnTo(Math.floor(this.#newestAt / 1000));
  }

  #hold(second: number, request: LoggedRequest): void {
    const { requests } = this.#at(second);
    const latest = requests.at(-1);
    if (latest !== undefined && request.at < latest.at) this.#at(second).isInOrder = false;
    requests.push((this.#spare.pop() ?? new LoggedRequest()).copy(request));
    this.#held += roomOf(request);
  }

  /** Hands on the waiting requests of all seconds up to this one. */
  #handOnTo(last: number): void {
    for (let second = this.#doneTo + 1; second <= last && this.#held > 0; second++) this.#empty(this.#at(second));
    this.#doneTo = Math.max(this.#doneTo, last);
  }

  #empty(second: Second): void {
    const { requests } = second;
    if (!second.isInOrder) requests.sort((a, b) => a.at - b.at);
    for (const request of requests) {
      this.#held -= roomOf(request);
      this.#handOn(request);
      this.#spare.push(request);
    }
    requests.length = 0;
    second.isInOrder = true;
  }

  #handOn(request: LoggedRequest): void {
    if (request.at < this.#handedOnAt) this.late++;
    else this.#handedOnAt = request.at;
    this.#take(request);
  }

  #at(second: number): Second {
    const { length } = this.#seconds;
    return this.#seconds[((second % length) + length) % length]!;
  }
}

function roomOf({ target, userAgent, host }: LoggedRequest): number {
  return Math.max(1, Math.ceil((target.length + userAgent.length + host.length) / CHARS_OF_ONE));
}
