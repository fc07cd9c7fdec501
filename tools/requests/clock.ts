import { setTimeout as sleep } from "node:timers/promises";

/** The clock with which a crawl measures and waits. */
export interface CrawlClock {
  /** Milliseconds since a fixed moment. */
  now(): number;
  /**
   * Resolves after this many milliseconds, or when the signal ends the wait. A wait of more than an hour ends early.
   * Never rejects.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Far below the longest time of a timer; beyond that, Node does not wait at all. */
const LONGEST_WAIT_MS = 3_600_000;

export const SYSTEM_CLOCK: CrawlClock = {
  now: () => performance.now(),
  // Only the signal rejects it.
  wait: (ms, signal) => sleep(Math.min(ms, LONGEST_WAIT_MS), undefined, { signal }).catch(() => undefined),
};
