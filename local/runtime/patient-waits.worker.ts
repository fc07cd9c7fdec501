/** The waits of a simulated isolate. How slow this machine is must not decide what the isolate knows of the purge log. */
import type { EdgeHooks } from "tidemark/worker/internal";
import { pause } from "./simulated-network.worker.ts";

type Wait = ReturnType<NonNullable<EdgeHooks["clock"]>["wait"]>;

/** How often a wait that is over looks whether the last answer has come, in real milliseconds. */
const POLL_MS = 1;

/** A call counts for no longer: the platform has ended its request, so no answer comes. In real milliseconds. */
const COUNTS_FOR_MS = 30_000;

/** Waits in real time, which are not over before the calls under way are answered that a fast machine had answered. */
export class PatientWaits {
  readonly #unanswered = new Set<{ readonly since: number }>();
  readonly #roundTripMs: () => number;

  /** `roundTripMs`: how long the simulated network makes a call take. A wait that is shorter is over before its answer. */
  constructor(roundTripMs: () => number) {
    this.#roundTripMs = roundTripMs;
  }

  /** The same function, for whose answers waits have patience. */
  patiently<Asked extends unknown[], T>(call: (...asked: Asked) => Promise<T>): (...asked: Asked) => Promise<T> {
    return async (...asked) => {
      const counted = { since: Date.now() };
      this.#unanswered.add(counted);
      try {
        return await call(...asked);
      } finally {
        this.#unanswered.delete(counted);
      }
    };
  }

  wait(ms: number): Wait {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isCancelled = false;
    const end = async () => {
      while (!isCancelled && ms > this.#roundTripMs() && this.#isOneAwaited()) await pause(POLL_MS);
      if (!isCancelled) resolve();
    };
    const timer = setTimeout(end, ms);
    return {
      over: promise,
      cancel: () => {
        isCancelled = true;
        clearTimeout(timer);
      },
    };
  }

  #isOneAwaited(): boolean {
    const now = Date.now();
    return [...this.#unanswered].some(({ since }) => now - since < COUNTS_FOR_MS);
  }
}
