import { shown } from "../errors.ts";
import { isBasePath, purgeOf } from "../frameworks/next-purge.ts";
import { afterFailure } from "../outbox/after-failure.ts";
import type { PurgeInput, PurgeRequest } from "../purge-request.ts";
import type { Purger } from "../purger.ts";
import { UNKNOWN_TAGS } from "./tagged.ts";

/** The parts of a Durable Object's storage that are used. */
export interface PurgeStorage {
  put(key: string, value: KeptPurge): Promise<void>;
  delete(key: string): Promise<boolean>;
  list(options: { limit: number }): Promise<Map<string, KeptPurge>>;
  getAlarm(): Promise<number | null>;
  setAlarm(at: number): Promise<void>;
}

/** A purge that the edge has not accepted yet, under its `id`. */
export interface KeptPurge {
  readonly request: PurgeInput;
  readonly failures: number;
}

/** The pause before a purge is sent again after its sender ended or the edge was down. */
const FIRST_PAUSE_MS = 10_000;

/** The most purges that are read at once. */
const PAGE = 100;

/**
 * The purges of an app on OpenNext. Each is kept until the edge has accepted it: it is sent at once, and again by the
 * alarm while that fails. A purge that the edge will never accept is reported and forgotten.
 */
export class KeptPurges {
  readonly #storage: PurgeStorage;
  readonly #purger: Pick<Purger, "purge">;
  readonly #basePath: string;
  readonly #now: () => number;

  /** `basePath`: that of `next.config`; `""` for none. */
  constructor(storage: PurgeStorage, purger: Pick<Purger, "purge">, basePath: string, now: () => number = Date.now) {
    if (!isBasePath(basePath)) {
      throw new TypeError(
        `The variable TIDEMARK_BASE_PATH must be like "/docs", as basePath in next.config (got ${shown(basePath)})`,
      );
    }
    this.#storage = storage;
    this.#purger = purger;
    this.#basePath = basePath;
    this.#now = now;
  }

  /**
   * Purges the pages of these tags of Next. Resolves when the edge has accepted the purge, or when it is kept for
   * later.
   */
  async purge(tags: readonly string[]): Promise<void> {
    const { tags: valid = [], ...items } = (purgeOf(tags, this.#basePath) ?? {}) as PurgeRequest;
    const request = (items.everything ? items : { ...items, tags: [...valid, UNKNOWN_TAGS] }) as PurgeInput;
    const id = crypto.randomUUID();
    const kept = { request, failures: 0 };
    await this.#storage.put(id, kept);
    await this.#wakeAt(this.#now() + FIRST_PAUSE_MS);
    await this.#send(id, kept);
  }

  /** Sends all kept purges at the alarm. After a failure, sets the alarm again. */
  async sendAll(): Promise<void> {
    for (;;) {
      const page = await this.#storage.list({ limit: PAGE });
      if (page.size === 0) return;
      // Otherwise one that always fails would keep those after it from being sent.
      const leastFailed = [...page].sort(([, a], [, b]) => a.failures - b.failures);
      for (const [id, kept] of leastFailed) {
        const dueAt = await this.#send(id, kept);
        if (dueAt !== null) return await this.#wakeAt(dueAt);
      }
    }
  }

  /** Sets the alarm, unless it comes earlier: a purge of this moment does not wait for the pause of another one. */
  async #wakeAt(at: number): Promise<void> {
    const alarm = await this.#storage.getAlarm();
    if (alarm === null || alarm > at) await this.#storage.setAlarm(at);
  }

  /** Returns when to try again; `null` if the purge is finished. */
  async #send(id: string, { request, failures: before }: KeptPurge): Promise<number | null> {
    try {
      await this.#purger.purge(request, { id, reason: "revalidated in Next" });
    } catch (error) {
      const failures = before + 1;
      const settings = { failures, maxAttempts: Number.POSITIVE_INFINITY, now: this.#now(), random: Math.random() };
      const after = afterFailure(error, settings);
      const next =
        after.kind === "dead" ? "It is not sent again, and pages may be stale" : "It will be sent again later";
      console.error(`The purge after a revalidation in Next failed. ${next}:`, error);
      if (after.kind === "retry") {
        await this.#storage.put(id, { request, failures });
        return Math.max(after.dueAt, this.#now() + FIRST_PAUSE_MS);
      }
    }
    await this.#storage.delete(id);
    return null;
  }
}
