import { setTimeout as sleep } from "node:timers/promises";

/** The time that a crawl measures and waits by. */
export interface CrawlClock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Resolves after so many milliseconds, or when the signal ends the wait. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: CrawlClock = {
  now: () => performance.now(),
  wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined), // only the signal rejects it
};
