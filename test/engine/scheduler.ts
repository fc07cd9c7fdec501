import type { Clock } from "../../worker/ports/clock.ts";
import { chances } from "./chances.ts";
import { Context } from "./context.ts";

/** The most events of one wait. It is far more than any scenario has, so that an endless loop is detected. */
const MAX_EVENTS = 100_000;

/** For work outside of this thread. */
const IDLE_TURNS = 5;

/** What waits for its time. */
interface Timer {
  at: number;
  readonly wake: () => void;
}

/** A request under way, until its client goes away. */
export interface Underway {
  isCancelled: boolean;
}

/**
 * Virtual time and the order of events. Waiting work is woken one piece at a time, in an order that the seed decides;
 * the same seed gives the same order.
 */
export class Scheduler implements Clock {
  /** A number from 0 up to 1, from the seed. */
  readonly random: () => number;
  /**
   * The number of times that it has chosen between the work of two requests, or between that of a request and other
   * work.
   */
  choicesBetweenRequests = 0;
  #now: number;
  readonly #idleTurns: number;
  #ready: { readonly of: Underway | undefined; readonly wake: () => void }[] = [];
  /** In the order in which they were set. */
  #timers: Timer[] = [];
  readonly #requests = new Context<Underway>();

  /**
   * `idleTurns`: after so many turns of the event loop in which nothing is ready, time goes on. More than one is needed
   * only where work is done outside of this thread, such as compression.
   */
  constructor(seed: number, now: number, idleTurns = IDLE_TURNS) {
    this.#now = now;
    this.#idleTurns = idleTurns;
    this.random = chances(seed);
  }

  now(): number {
    return this.#now;
  }

  /** Sets the machine's clock back. The remaining time of all waits stays the same. */
  stepBack(ms: number): void {
    this.#now -= ms;
    for (const timer of this.#timers) timer.at -= ms;
  }

  /**
   * Does the work of a request. Once the request is cancelled, nothing that it waits for resumes it, as in the runtime.
   */
  as<T>(request: Underway, work: () => T): T {
    return this.#requests.run(request, work);
  }

  wait(ms: number): { over: Promise<void>; cancel: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = { at: this.#now + ms, wake: resolve };
    this.#timers.push(timer);
    return {
      over: this.#comesBack(promise),
      cancel: () => this.#remove(timer),
    };
  }

  /** An asynchronous step: continues after one or more of the other waiting steps. */
  async turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ready.push({ of: this.#requests.get(), wake: resolve });
    await this.#comesBack(promise);
  }

  async #comesBack(promise: Promise<void>): Promise<void> {
    await promise;
    if (this.#requests.get()?.isCancelled) await new Promise(() => undefined);
  }

  /** Wakes waiting work until the promise settles. Throws if no work is left, or if the promise never settles. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    for (let idle = 0, events = 0; !settled; events++) {
      if (events > MAX_EVENTS) throw new Error("this goes on for ever and settles nothing");
      await macrotask();
      if (settled) break;
      idle = this.#wakeOne() ? 0 : idle + 1;
      if (idle > 200) throw new Error("nothing is left that could settle this: a request hangs");
    }
    return promise;
  }

  /** Lets time pass. Timers fire on the way, and the work that they wake continues. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#rest();
    for (;;) {
      const next = this.#nextTimer();
      if (next === undefined || next.at > end) break;
      this.#remove(next);
      this.#now = Math.max(this.#now, next.at);
      next.wake();
      await this.#rest();
    }
    this.#now = end;
  }

  /** The first that fires; of several at the same time, the one that was set first. */
  #nextTimer(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (next === undefined || timer.at < next.at) next = timer;
    return next;
  }

  #remove(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at >= 0) this.#timers.splice(at, 1);
  }

  /** Continues until nothing is ready. Throws if that never happens. */
  async #rest(): Promise<void> {
    for (let idle = 0, events = 0; idle < this.#idleTurns; events++) {
      if (events > MAX_EVENTS) throw new Error("this goes on for ever and comes to no rest");
      await macrotask();
      idle = this.#wakeOne() ? 0 : idle + 1;
    }
  }

  #wakeOne(): boolean {
    if (this.#ready.length === 0) return false;
    if (this.#ready.some(({ of }) => of !== this.#ready[0]!.of)) this.choicesBetweenRequests++;
    const [next] = this.#ready.splice(Math.floor(this.random() * this.#ready.length), 1);
    next!.wake();
    return true;
  }
}

/** Lets every promise that is ready continue. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
