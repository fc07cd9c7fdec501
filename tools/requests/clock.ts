import { setTimeout as sleep } from "node:timers/promises";
import { MAX_SLEEP_MS } from "../../sdk/clock.ts";

/** The time that a crawl measures and waits by. */
export interface CrawlClock {
  /** Milliseconds since some moment. */
  now(): number;
  /**
   * Resolves after so many milliseconds, or when the signal ends the wait. A wait that is longer than a timer can be ends
   * early. Never rejects.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: CrawlClock = {
  now: () => performance.now(),
  // Only the signal rejects it.
  wait: (ms, signal) => sleep(Math.min(ms, MAX_SLEEP_MS), undefined, { signal }).catch(() => undefined),
};
