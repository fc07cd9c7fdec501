import { TimerQueue, type VirtualTimer } from "./timer-queue.ts";

const real = { Date, setTimeout, clearTimeout, setInterval, clearInterval, now: performance.now, setImmediate };

/** What keeps the event loop busy with work that does not wait for time: files, connections, threads. */
const AT_WORK: ReadonlySet<string> = new Set([
  "FSReqCallback",
  "FSReqPromise",
  "PipeConnectWrap",
  "ShutdownWrap",
  "WriteWrap",
  "MessagePort",
  "Zlib",
]);

/** After this many turns of the event loop, what was begun has ended, or waits for time or for such work. */
const TURNS = 12;
const TURNS_BEHIND = 3;
/** After this many rounds threads are waited for, in the time of the machine: on a busy one they are long in coming. */
const ROUNDS = 8;
/** What takes longer waits for time itself: a client that does not read, for instance. */
const PATIENCE_MS = 5_000;

/**
 * The time of this process: `Date`, `performance.now` and the timers of all code in it move only when told. Files, sockets
 * and threads work as ever. As on a machine, the wall clock can be set, and the clock that measures cannot.
 */
export class VirtualTime {
  readonly #queue = new TimerQueue();
  readonly #threads: number;
  readonly #mayGoOn: () => boolean;
  #wall: number;
  #elapsed = 0;
  /** How many pieces of work have outlasted the patience. */
  #stuck = 0;

  /** `mayGoOn`: nobody waits for an answer, so that what is left to do is done behind answers. */
  constructor(begins: number, mayGoOn: () => boolean) {
    this.#wall = begins;
    this.#mayGoOn = mayGoOn;
    this.#threads = atWork().length; // a test runner's own
    this.#install();
  }

  /** Milliseconds since the beginning, whatever was done to the wall clock. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** Epoch milliseconds by the wall clock. */
  get wall(): number {
    return this.#wall + this.#elapsed;
  }

  /** Sets the wall clock. Timers go on as they were. */
  step(byMs: number): void {
    this.#wall += byMs;
  }

  /** Those that have not rung and were not cleared. */
  get timers(): readonly VirtualTimer[] {
    return this.#queue.all;
  }

  /** Moves on to this moment. Each timer on the way rings at its own time, and its work goes as far as it can. */
  async advanceTo(elapsed: number): Promise<void> {
    for (let due = this.#queue.next(elapsed); due !== undefined; due = this.#queue.next(elapsed)) {
      this.#elapsed = Math.max(this.#elapsed, due.at);
      due.ring();
      if (this.#mayGoOn()) await turn();
      else await this.quiet();
    }
    this.#elapsed = Math.max(this.#elapsed, elapsed);
  }

  /** Lets time pass until the promise settles. */
  async during<T>(promise: Promise<T>, stepMs = 20): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    while (!isOver) {
      await this.quiet();
      if (!isOver) await this.advanceTo(this.#elapsed + stepMs);
    }
    return promise;
  }

  /** Resolves when nothing more happens without time. */
  async quiet(): Promise<void> {
    for (let rounds = 0; rounds < ROUNDS; rounds++) {
      for (let turns = 0; turns < (this.#mayGoOn() ? TURNS_BEHIND : TURNS); turns++) await turn();
      if (this.#isQuiet()) return;
    }
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs++) {
      await new Promise((resolve) => real.setTimeout(resolve, 1));
      for (let turns = 0; turns < TURNS; turns++) await turn();
      if (this.#isQuiet()) return;
    }
    this.#stuck = this.#atWork();
  }

  #isQuiet(): boolean {
    const atWork = this.#atWork();
    if (atWork > this.#stuck) return false;
    this.#stuck = atWork;
    return true;
  }

  #atWork(): number {
    return Math.max(0, atWork().length - this.#threads);
  }

  /** Gives the process its own time back. */
  uninstall(): void {
    Object.assign(globalThis, {
      Date: real.Date,
      setTimeout: real.setTimeout,
      clearTimeout: real.clearTimeout,
      setInterval: real.setInterval,
      clearInterval: real.clearInterval,
    });
    performance.now = real.now;
    // A library may hold on to a timer that it has made, to use it again.
    this.#queue.fallBackTo((callback, ms) => void real.setTimeout(callback, ms).unref());
  }

  #install(): void {
    const now = () => Math.floor(this.wall);
    const VirtualDate = new Proxy(Date, {
      construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
      apply: () => new real.Date(now()).toString(),
      get: (target, name, self) => (name === "now" ? now : Reflect.get(target, name, self)),
    });
    const clear = (timer: unknown) => {
      if (!this.#queue.clear(timer)) real.clearTimeout(timer as NodeJS.Timeout);
    };
    const after = (ms: number | undefined) => Math.max(1, Number(ms) || 1);
    const set =
      (every: boolean) =>
      (callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
        const ring = Object.assign(() => callback(...given), { of: callback });
        return this.#queue.add(ring, after(ms), every, () => this.#elapsed);
      };
    Object.assign(globalThis, {
      Date: VirtualDate,
      setTimeout: set(false),
      clearTimeout: clear,
      setInterval: set(true),
      clearInterval: clear,
    });
    performance.now = () => this.#elapsed;
  }
}

function atWork(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => AT_WORK.has(kind));
}

/** One turn of the event loop: what has come over sockets and from the disk is taken in. */
function turn(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve));
}
