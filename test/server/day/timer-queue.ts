/** A timer of the process, as `setTimeout` and `setInterval` return it. */
export interface VirtualTimer {
  /** When it rings next: milliseconds since the beginning. */
  readonly at: number;
  readonly everyMs: number | null;
  /** The beginning of what it calls. */
  readonly calls: string;
}

/** What a timer calls. Its text says which timer it is. */
export interface Callback {
  (): void;
  readonly of?: unknown;
}

type Fallback = (callback: () => void, ms: number) => void;

/** Timers in the order in which they ring; those of one moment ring in the order in which they were set. */
export class TimerQueue {
  /** A heap: no timer is later than the two behind it. Those that were moved or cleared since are passed over. */
  readonly #heap: Place[] = [];
  readonly #timers = new Map<Timer, Place>();
  #set = 0;
  #fallback: Fallback | null = null;

  add(callback: Callback, ms: number, repeats: boolean, now: () => number): VirtualTimer {
    const timer = new Timer(this, callback, ms, repeats, now);
    this.put(timer);
    return timer;
  }

  /** Returns false if it is none of these timers. */
  clear(timer: unknown): boolean {
    if (!(timer instanceof Timer)) return timer === undefined || timer === null;
    this.#timers.delete(timer);
    return true;
  }

  put(timer: Timer): void {
    timer.at = timer.now() + timer.ms;
    if (this.#fallback) {
      this.#fallback(timer.callback, timer.ms);
      return;
    }
    const place = { at: timer.at, order: this.#set++, timer };
    this.#timers.set(timer, place);
    this.#push(place);
  }

  /** The first timer that rings by then. */
  next(by: number): Timer | undefined {
    for (let first = this.#heap[0]; first !== undefined && first.at <= by; first = this.#heap[0]) {
      this.#pop();
      if (this.#timers.get(first.timer) === first) return first.timer;
    }
    return undefined;
  }

  get all(): readonly VirtualTimer[] {
    return [...this.#timers.keys()];
  }

  forget(timer: Timer): void {
    this.#timers.delete(timer);
  }

  /** From here on timers that are set again ring by other means. */
  fallBackTo(fallback: Fallback): void {
    this.#fallback = fallback;
    this.#timers.clear();
    this.#heap.length = 0;
  }

  #push(place: Place): void {
    const heap = this.#heap;
    let index = heap.push(place) - 1;
    for (let up = (index - 1) >> 1; index > 0 && isBefore(place, heap[up]!); up = (index - 1) >> 1) {
      heap[index] = heap[up]!;
      index = up;
    }
    heap[index] = place;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (let down = 1; down < heap.length; down = 2 * index + 1) {
      if (down + 1 < heap.length && isBefore(heap[down + 1]!, heap[down]!)) down++;
      if (isBefore(last, heap[down]!)) break;
      heap[index] = heap[down]!;
      index = down;
    }
    heap[index] = last;
  }
}

interface Place {
  readonly at: number;
  readonly order: number;
  readonly timer: Timer;
}

function isBefore(one: Place, other: Place): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** What code does with the timers that Node gives it. */
class Timer implements VirtualTimer {
  at = 0;
  readonly #queue: TimerQueue;
  readonly callback: Callback;
  readonly ms: number;
  readonly now: () => number;
  readonly #repeats: boolean;
  /** Where it was set, if what it calls does not tell: the end of a promise, for instance. */
  readonly #setBy: string;

  constructor(queue: TimerQueue, callback: Callback, ms: number, repeats: boolean, now: () => number) {
    this.#queue = queue;
    this.callback = callback;
    this.ms = ms;
    this.#repeats = repeats;
    this.now = now;
    this.#setBy = String(callback.of).includes("[native code]") ? (new Error().stack ?? "") : "";
  }

  get everyMs(): number | null {
    return this.#repeats ? this.ms : null;
  }

  get calls(): string {
    return String(this.callback.of).slice(0, 100) + this.#setBy;
  }

  ring(): void {
    if (this.#repeats) this.#queue.put(this);
    else this.#queue.forget(this);
    this.callback();
  }

  refresh(): this {
    this.#queue.put(this);
    return this;
  }

  close(): this {
    this.#queue.clear(this);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
