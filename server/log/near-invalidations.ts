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
/** The most keys that wait, and their characters. Above them, everything is invalidated, because none may be lost. */
const MAX_WAITING = 10_000;
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Keys that go to the log in one append. */
class Batch {
  readonly keys = new Set<string>();
  /** Resolves after the first attempt. */
  readonly tried: PromiseWithResolvers<void> = Promise.withResolvers();
  #characters = 0;
  /** Whether one of the keys stands for more than a URL. Nobody here knows the members of a group. */
  #isOfMany = false;

  concerns(urlKey: string): boolean {
    return this.#isOfMany || this.keys.has(urlKey);
  }

  add(keys: Iterable<string>): void {
    if (this.keys.has(EVERYTHING_PURGE_KEY)) return;
    for (const key of keys) {
      if (!this.keys.has(key)) this.#characters += key.length;
      if (!key.startsWith("//")) this.#isOfMany = true;
      this.keys.add(key);
    }
    if (this.keys.size <= MAX_WAITING && this.#characters <= MAX_CHARACTERS) return;
    this.keys.clear();
    this.keys.add(EVERYTHING_PURGE_KEY);
    this.#isOfMany = true;
  }
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
  /** What an append under way takes. */
  #underWay: Batch | null = null;

  constructor(log: PurgeLogWriter, clock: Clock, reporter: Reporter) {
    this.#log = log;
    this.#clock = clock;
    this.#reporter = reporter;
  }

  tell(purgeKeys: readonly string[], background: BackgroundWork): Promise<unknown> {
    this.#next ??= new Batch();
    const { tried } = this.#next;
    this.#next.add(purgeKeys);
    if (!this.#isSending) background.run(this.#send());
    return within(this.#clock, HOLD_MS, tried.promise, () => undefined);
  }

  mayLack(purgeKey: string): boolean {
    return [this.#underWay, this.#next].some((batch) => batch?.concerns(purgeKey));
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (let pauseMs = FIRST_PAUSE_MS; this.#next !== null; ) {
      const batch = this.#next;
      this.#next = null;
      this.#underWay = batch;
      const isTold = await this.#append(batch.keys);
      this.#underWay = null;
      batch.tried.resolve();
      if (isTold) {
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      this.#putBack(batch);
      await this.#clock.wait(pauseMs).over;
      pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
    }
    this.#isSending = false;
  }

  /** Answers that come until the next attempt wait for nothing. */
  #putBack(batch: Batch): void {
    if (this.#next !== null) {
      batch.add(this.#next.keys);
      this.#next.tried.resolve();
    }
    this.#next = batch;
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
