import type { BackgroundWork } from "../../worker/ports/background-work.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PurgeLogWriter } from "../../worker/ports/purge-log.ts";
import type { Invalidations } from "../../worker/ports/purge-state.ts";
import type { Reporter } from "../../worker/ports/reporter.ts";
import { INVALIDATION } from "../../worker/purges/invalidations.ts";
import { EVERYTHING_PURGE_KEY } from "../../worker/rules/key/purge-key.ts";
import { within } from "../../worker/within.ts";

/** How long an answer waits for a log that does not answer. Milliseconds. */
const HOLD_MS = 1_000;
/** The pauses before a failed append is tried again. Each is twice as long as the one before. Milliseconds. */
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 1_000;
/** The most keys that wait. Above it, everything is invalidated, because none of them may be lost. */
const MAX_WAITING = 10_000;

/** Keys that go to the log in one append. */
interface Batch {
  readonly keys: Set<string>;
  /** Resolves after the first attempt. */
  readonly tried: PromiseWithResolvers<void>;
}

/**
 * Tells a log on the same machine, or near it, which keys unsafe requests have invalidated (R15). The client's next request
 * may come over a connection to another worker, so its answer waits until the others know. One append is under way at a
 * time, and takes all keys that were told before it, so that a storm of unsafe requests costs few appends. One that fails
 * is tried until it succeeds.
 */
export class NearInvalidations implements Invalidations {
  readonly #log: PurgeLogWriter;
  readonly #clock: Clock;
  readonly #reporter: Reporter;
  #next: Batch | null = null;
  #isSending = false;

  constructor(log: PurgeLogWriter, clock: Clock, reporter: Reporter) {
    this.#log = log;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  tell(purgeKeys: readonly string[], background: BackgroundWork): Promise<unknown> {
    this.#next ??= { keys: new Set(), tried: Promise.withResolvers() };
    const { keys, tried } = this.#next;
    addTo(keys, purgeKeys);
    if (!this.#isSending) background.run(this.#send());
    return within(this.#clock, HOLD_MS, tried.promise, () => undefined);
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let pauseMs = FIRST_PAUSE_MS; this.#next !== null; ) {
      const batch = this.#next;
      this.#next = null;
      const isTold = await this.#append(batch.keys);
      batch.tried.resolve();
      if (isTold) {
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      await this.#clock.wait(pauseMs).over;
      pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
      this.#next ??= batch;
      if (this.#next !== batch) addTo(this.#next.keys, batch.keys);
    }
    this.#isSending = false;
  }

  async #append(keys: ReadonlySet<string>): Promise<boolean> {
    try {
      await this.#log.append({ ...INVALIDATION, purgeKeys: [...keys] });
      return true;
    } catch (cause) {
      this.#reporter.report({ kind: "log-failed", cause, isPurge: true });
      return false;
    }
  }
}

function addTo(keys: Set<string>, more: Iterable<string>): void {
  for (const key of more) if (!keys.has(EVERYTHING_PURGE_KEY)) keys.add(key);
  if (keys.size <= MAX_WAITING) return;
  keys.clear();
  keys.add(EVERYTHING_PURGE_KEY);
}
