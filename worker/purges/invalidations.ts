import type { BackgroundWork } from "../ports/background-work.ts";
import type { Clock } from "../ports/clock.ts";
import type { NewPurge, PurgeLogWriter } from "../ports/purge-log.ts";
import type { Invalidations } from "../ports/purge-state.ts";
import type { Reporter } from "../ports/reporter.ts";

/** The most appends of one isolate in one lease. The limit keeps a loop of unsafe requests from overloading the log. */
const MAX_APPENDS = 16;
/** The most keys that wait for the next lease. Further keys are dropped and counted. */
const MAX_WAITING = 10_000;
/** The most attempts to append, one per lease. */
const MAX_ATTEMPTS = 5;

/**
 * Tells the log which keys unsafe requests have invalidated: at once, but each key at most once in a lease (R15).
 * Further keys are merged, and sent in one append when the lease is over.
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

  tell(purgeKeys: readonly string[], background: BackgroundWork): void {
    const now = this.#clock.now();
    // Includes keys that still wait from the last lease, because the request that was to send them may have been
    // cancelled.
    const keys = new Set(this.#isOver(now) ? [...this.#beginLease(now), ...purgeKeys] : purgeKeys);
    if (this.#appends < MAX_APPENDS && !purgeKeys.some((key) => this.#told.has(key))) {
      background.run(this.#tellNow([...keys]));
      return;
    }
    for (const key of purgeKeys) {
      if (this.#waiting.has(key)) continue;
      if (this.#waiting.size < MAX_WAITING) this.#waiting.add(key);
      else this.#reporter.report({ kind: "invalidation-dropped" });
    }
    this.#flush ??= this.#flushAfterLease();
    background.run(this.#flush);
  }

  #isOver(now: number): boolean {
    return now - this.#leaseBeganAt >= this.#leaseMs || now < this.#leaseBeganAt;
  }

  /** Begins a lease. Returns the keys that waited for it. */
  #beginLease(now: number): string[] {
    const waited = [...this.#waiting];
    this.#leaseBeganAt = now;
    this.#appends = 0;
    this.#told.clear();
    this.#waiting.clear();
    this.#flush = null;
    return waited;
  }

  async #flushAfterLease(): Promise<void> {
    const beganAt = this.#leaseBeganAt;
    await this.#clock.wait(Math.max(0, beganAt + this.#leaseMs - this.#clock.now())).over;
    if (this.#leaseBeganAt !== beganAt) return; // a later request has begun the next lease
    await this.#tellNow(this.#beginLease(this.#clock.now()));
  }

  async #tellNow(purgeKeys: readonly string[]): Promise<void> {
    this.#appends++;
    for (const key of purgeKeys) this.#told.add(key);
    await this.#append(purgeKeys);
  }

  async #append(purgeKeys: readonly string[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#log.append({ ...INVALIDATION, purgeKeys });
        return;
      } catch (cause) {
        this.#reporter.report({ kind: "log-failed", cause, isPurge: true });
        if (attempt === MAX_ATTEMPTS) return this.#reporter.report({ kind: "invalidation-dropped" });
      }
      await this.#clock.wait(this.#leaseMs).over;
    }
  }
}

const INVALIDATION: Omit<NewPurge, "purgeKeys"> = {
  id: null,
  content: "",
  accepted: { urls: 0, tags: 0, prefixes: 0, hosts: 0, everything: false },
  mode: "invalidate", // a validation is enough (RFC 9111 §4.4): the origin may confirm the stored response
  repeatAfterMs: null,
  reason: "unsafe request",
  by: "edge",
};
