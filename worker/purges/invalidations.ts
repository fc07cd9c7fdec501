import type { BackgroundWork } from "../ports/background-work.ts";
import type { Clock } from "../ports/clock.ts";
import type { NewPurge, PurgeLogWriter } from "../ports/purge-log.ts";
import type { Invalidations } from "../ports/purge-state.ts";
import type { Reporter } from "../ports/reporter.ts";

/** The most appends of one isolate in one lease. The limit keeps a loop of unsafe requests from overloading the log. */
const MAX_APPENDS = 16;
/** The most keys that wait for the next lease. Further keys are dropped and counted. */
const MAX_WAITING = 10_000;
/** The most attempts to append. */
const MAX_ATTEMPTS = 5;
/** The longest waits, if the lease is not shorter: the platform ends work behind an answer after 30 s. In milliseconds. */
const MAX_BETWEEN_ATTEMPTS_MS = 4000;
const MAX_MERGING_MS = 20_000;

/**
 * Tells a log that is far away which keys unsafe requests have invalidated: at once, but each key at most once in a lease
 * (R15). Further keys are merged, and sent in one append when the lease is over, or some time before. Answers do not wait.
 */
export class LogInvalidations implements Invalidations {
  readonly #log: PurgeLogWriter;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #reporter: Reporter;
  /** The keys that were told since `#leaseBeganAt`. */
  readonly #told = new Set<string>();
  readonly #waiting = new Set<string>();
  #leaseBeganAt = Number.NEGATIVE_INFINITY;
  #appends = 0;
  #flush: Promise<void> | null = null;

  constructor(log: PurgeLogWriter, clock: Clock, leaseMs: number, reporter: Reporter) {
    this.#log = log;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#reporter = reporter;
  }

  tell(purgeKeys: readonly string[], background: BackgroundWork): undefined {
    const now = this.#clock.now();
    // Includes keys that still wait from the last lease, because the request that was to send them may have been
    // cancelled.
    const keys = new Set(this.#isOver(now) ? [...this.#beginLease(now), ...purgeKeys] : purgeKeys);
    if (this.#appends < MAX_APPENDS && !purgeKeys.some((key) => this.#told.has(key))) {
      background.run(this.#untilTold(this.#try(keys), keys));
      return;
    }
    for (const key of purgeKeys) {
      if (this.#waiting.has(key)) continue;
      if (this.#waiting.size < MAX_WAITING) this.#waiting.add(key);
      else this.#reporter.report({ kind: "invalidation-dropped" });
    }
    this.#flush ??= this.#flushLater();
    background.run(this.#flush);
  }

  #isOver(now: number): boolean {
    return now - this.#leaseBeganAt >= this.#leaseMs || now < this.#leaseBeganAt;
  }

  /** Begins a lease. Returns the keys that waited for it. */
  #beginLease(now: number): string[] {
    this.#leaseBeganAt = now;
    this.#appends = 0;
    this.#told.clear();
    return this.#takeWaiting();
  }

  #takeWaiting(): string[] {
    const waited = [...this.#waiting];
    this.#waiting.clear();
    this.#flush = null;
    return waited;
  }

  async #flushLater(): Promise<void> {
    const beganAt = this.#leaseBeganAt;
    const restMs = Math.max(0, beganAt + this.#leaseMs - this.#clock.now());
    await this.#clock.wait(Math.min(restMs, MAX_MERGING_MS)).over;
    if (this.#leaseBeganAt !== beganAt) return; // a later request has begun the next lease
    const now = this.#clock.now();
    const keys = this.#isOver(now) ? this.#beginLease(now) : this.#takeWaiting();
    await this.#untilTold(this.#try(keys), keys);
  }

  async #untilTold(tried: Promise<boolean>, keys: Iterable<string>): Promise<void> {
    let isTold = await tried;
    for (let attempt = 1; !isTold; attempt++) {
      if (attempt === MAX_ATTEMPTS) return this.#reporter.report({ kind: "invalidation-dropped" });
      await this.#clock.wait(Math.min(this.#leaseMs, MAX_BETWEEN_ATTEMPTS_MS)).over;
      isTold = await this.#append(keys);
    }
  }

  /** Appends for the first time. */
  #try(keys: Iterable<string>): Promise<boolean> {
    this.#appends++;
    for (const key of keys) this.#told.add(key);
    return this.#append(keys);
  }

  /** Resolves to whether the log has the keys. */
  async #append(keys: Iterable<string>): Promise<boolean> {
    try {
      await this.#log.append({ ...INVALIDATION, purgeKeys: [...keys] });
      return true;
    } catch (cause) {
      this.#reporter.report({ kind: "log-failed", cause, isPurge: true });
      return false;
    }
  }
}

/** A purge by an unsafe request. */
export const INVALIDATION: Omit<NewPurge, "purgeKeys"> = {
  id: null,
  content: "",
  accepted: { urls: 0, tags: 0, prefixes: 0, hosts: 0, everything: false },
  mode: "invalidate", // a validation is enough (RFC 9111 §4.4): the origin may confirm the stored response
  repeatAfterMs: null,
  reason: "unsafe request",
  by: "edge",
};
