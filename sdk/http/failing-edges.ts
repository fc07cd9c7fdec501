import type { Clock } from "../clock.ts";
import { PurgeError } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { Receipt } from "../receipt.ts";
import { withDeadline } from "./deadline.ts";

/** Milliseconds for which a failing edge is waited for after the others. */
const FAILING_EDGE_MS = 1_000;

/**
 * Remembers the edges whose last purge failed for all its attempts. While an edge hangs, only the first call waits for its
 * whole deadline, so a backend that sends one purge after another still reaches the other edges soon.
 */
export class FailingEdges {
  readonly #lastErrors = new Map<Settings, PurgeError>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Sends to all edges at once, and resolves to the outcome at each. For a failing edge that is late, that is the error of
   * its last purge. It may only be slow, so this purge goes on there, and an edge that accepts one is no longer failing.
   */
  async outcomes(
    edges: readonly Settings[],
    sendTo: (edge: Settings) => Promise<Receipt>,
  ): Promise<PromiseSettledResult<Receipt>[]> {
    const sent = edges.map((edge) => ({ lastError: this.#lastErrors.get(edge), answer: this.#noted(edge, sendTo) }));
    const all = Promise.allSettled(sent.map(({ answer }) => answer));
    const working = sent.filter(({ lastError }) => !lastError);
    if (working.length === 0) return all;
    const others = Promise.allSettled(working.map(({ answer }) => answer));
    const inTime = sent.map(async ({ lastError, answer }) => {
      if (!lastError) return answer;
      await others;
      const limits = { clock: this.#clock, deadlineMs: FAILING_EDGE_MS, signals: [], timedOut: () => lastError };
      return withDeadline(limits, () => answer);
    });
    return Promise.allSettled(inTime);
  }

  async #noted(edge: Settings, sendTo: (edge: Settings) => Promise<Receipt>): Promise<Receipt> {
    try {
      const receipt = await sendTo(edge);
      this.#lastErrors.delete(edge);
      return receipt;
    } catch (error) {
      // One that was never sent waited behind others, and says nothing of the edge.
      if (error instanceof PurgeError && error.retryable && error.attempts > 0) this.#lastErrors.set(edge, error);
      throw error;
    }
  }
}
