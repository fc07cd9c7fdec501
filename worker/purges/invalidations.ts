import type { BackgroundWork } from "../ports/background-work.ts";
import type { Clock } from "../ports/clock.ts";
import type { NewPurge, PurgeLogWriter } from "../ports/purge-log.ts";
import type { Invalidations } from "../ports/purge-state.ts";
import type { Reporter } from "../ports/reporter.ts";
import { within } from "../within.ts";

/** The most appends of one isolate in one lease. The limit keeps a loop of unsafe requests from overloading the log. */
const MAX_APPENDS = 16;
/** The most keys that wait for the next lease. Further keys are dropped and counted. */
const MAX_WAITING = 10_000;
/** The most attempts to append. */
const MAX_ATTEMPTS = 5;
/** The longest waits, if the lease is not shorter: the platform ends work behind an answer after 30 s. In milliseconds. */
const MAX_BETWEEN_ATTEMPTS_MS = 4000;
const MAX_MERGING_MS = 20_000;

/** A log that is so near that answers to unsafe requests can wait for it. */
export interface NearLog {
  /** How long an answer waits: milliseconds. */
  readonly holdMs: number;
  /** The shortest time between two appends of merged keys: milliseconds. */
  readonly apartMs: number;
}

/** Keys that wait to be sent in one append. */
interface Flush {
  /** Ends with the first attempt. */
  readonly tried: Promise<unknown>;
  readonly ended: Promise<void>;
}

/**
 * Tells the log which keys unsafe requests have invalidated: at once, but a log far away learns each key at most once in a
 * lease (R15). Further keys are merged, and sent in one append when the lease is over, or some time before; to a log that
 * is near, so soon that answers can wait for it.
 */
export class LogInvalidations implements Invalidations {
  readonly #log: PurgeLogWriter;
  readonly #clock: Clock;
  readonly #leaseMs: number;
  readonly #near: NearLog | undefined;
  readonly #reporter: Reporter;
  /** The keys that were told since `#leaseBeganAt`. */
  readonly #told = new Set<string>();
  readonly #waiting = new Set<string>();
  #leaseBeganAt = Number.NEGATIVE_INFINITY;
  #appends = 0;
  #last: { readonly at: number; readonly tried: Promise<boolean> } | null = null;
  #flush: Flush | null = null;

  /** `near`: by default, each append goes far and costs the site's owner something. */
  constructor(log: PurgeLogWriter, clock: Clock, leaseMs: number, reporter: Reporter, near?: NearLog) {
    this.#log = log;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
    this.#near = near;
    this.#reporter = reporter;
  }

  tell(purgeKeys: readonly string[], background: BackgroundWork): Promise<unknown> | undefined {
    const now = this.#clock.now();
    // Includes keys that still wait from the last lease, because the request that was to send them may have been
    // cancelled.
    const keys = new Set(this.#isOver(now) ? [...this.#beginLease(now), ...purgeKeys] : purgeKeys);
    const mayRepeat = this.#near !== undefined || !purgeKeys.some((key) => this.#told.has(key));
    if (this.#appends < MAX_APPENDS && mayRepeat) {
      const tried = this.#try(keys);
      background.run(this.#untilTold(tried, keys));
      return this.#held(tried);
    }
    for (const key of purgeKeys) {
      if (this.#waiting.has(key)) continue;
      if (this.#waiting.size < MAX_WAITING) this.#waiting.add(key);
      else this.#reporter.report({ kind: "invalidation-dropped" });
    }
    this.#flush ??= this.#flushLater();
    background.run(this.#flush.ended);
    return this.#held(this.#flush.tried);
  }

  /** What an answer waits for. */
  #held(tried: Promise<unknown>): Promise<unknown> | undefined {
    return this.#near && within(this.#clock, this.#near.holdMs, tried, () => undefined);
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

  #flushLater(): Flush {
    const { promise: tried, resolve } = Promise.withResolvers<unknown>();
    return { tried, ended: this.#flushThen(resolve) };
  }

  async #flushThen(onTried: (tried: unknown) => void): Promise<void> {
    const beganAt = this.#leaseBeganAt;
    await this.#clock.wait(this.#mergingMs(this.#clock.now())).over;
    // Otherwise a later request has begun the next lease, and has sent the keys.
    if (this.#leaseBeganAt === beganAt) {
      const now = this.#clock.now();
      const keys = this.#isOver(now) ? this.#beginLease(now) : this.#takeWaiting();
      const tried = this.#try(keys);
      onTried(tried);
      return this.#untilTold(tried, keys);
    }
    onTried(this.#last?.tried);
  }

  /** How long keys wait for others to go with them. */
  #mergingMs(now: number): number {
    const endsAt = this.#near ? this.#last!.at + this.#near.apartMs : this.#leaseBeganAt + this.#leaseMs;
    return Math.min(Math.max(0, endsAt - now), this.#near?.apartMs ?? MAX_MERGING_MS);
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
    const tried = this.#append(keys);
    this.#last = { at: this.#clock.now(), tried };
    return tried;
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

const INVALIDATION: Omit<NewPurge, "purgeKeys"> = {
  id: null,
  content: "",
  accepted: { urls: 0, tags: 0, prefixes: 0, hosts: 0, everything: false },
  mode: "invalidate", // a validation is enough (RFC 9111 §4.4): the origin may confirm the stored response
  repeatAfterMs: null,
  reason: "unsafe request",
  by: "edge",
};
