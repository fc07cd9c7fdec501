import type { Clock } from "../clock.ts";
import { PurgeTimeout } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { Receipt } from "../receipt.ts";
import { withDeadline } from "./deadline.ts";
import { timedOutAgain } from "./failures.ts";

/** Milliseconds for which a failing edge is waited for after the others. */
const FAILING_EDGE_MS = 1_000;

/** Milliseconds after its last time-out, from which on an edge is no longer failing. */
const FORGET_AFTER_MS = 60_000;

/** An edge since it last accepted a purge. */
interface EdgeState {
  timeout?: { readonly error: PurgeTimeout; readonly at: number; readonly waitedMs: number };
}

/**
 * Remembers the edges whose last purge timed out. While an edge hangs, only the first call waits for its whole deadline, so
 * a backend that sends one purge after another still reaches the other edges soon.
 */
export class FailingEdges {
  readonly #states = new Map<Settings, EdgeState>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Sends to all edges at once, and resolves to the outcome at each. For a failing edge that is late, that is a time-out
   * before `deadlineMs`. It may only be slow, so this purge goes on there, and an edge that accepts one is no longer failing.
   */
  async outcomes(
    edges: readonly Settings[],
    deadlineMs: number,
    sendTo: (edge: Settings) => Promise<Receipt>,
  ): Promise<PromiseSettledResult<Receipt>[]> {
    const sentAt = this.#clock.now();
    const sent = edges.map((edge) => ({
      edge,
      lastError: this.#lastError(edge, deadlineMs),
      answer: this.#noted(edge, deadlineMs, sendTo),
    }));
    const all = Promise.allSettled(sent.map(({ answer }) => answer));
    const working = sent.filter(({ lastError }) => !lastError);
    if (working.length === 0) return all;
    const others = Promise.allSettled(working.map(({ answer }) => answer));
    const inTime = sent.map(async ({ edge, lastError, answer }) => {
      if (!lastError) return answer;
      await others;
      const late = () => timedOutAgain(edge.endpoint, Math.round(this.#clock.now() - sentAt), lastError);
      const limits = { clock: this.#clock, deadlineMs: FAILING_EDGE_MS, signals: [], timedOut: late };
      return withDeadline(limits, () => answer);
    });
    return Promise.allSettled(inTime);
  }

  /** The time-out of a failing edge. A purge with a longer deadline waits, because the edge may answer by then. */
  #lastError(edge: Settings, deadlineMs: number): PurgeTimeout | undefined {
    const timeout = this.#recentTimeout(this.#stateOf(edge));
    return timeout && timeout.waitedMs >= deadlineMs ? timeout.error : undefined;
  }

  #recentTimeout({ timeout }: EdgeState): EdgeState["timeout"] {
    return timeout && this.#clock.now() - timeout.at < FORGET_AFTER_MS ? timeout : undefined;
  }

  async #noted(edge: Settings, deadlineMs: number, sendTo: (edge: Settings) => Promise<Receipt>): Promise<Receipt> {
    const state = this.#stateOf(edge);
    try {
      const receipt = await sendTo(edge);
      // Purges that were sent before this still have the old state, and their time-outs no longer count.
      this.#states.set(edge, {});
      return receipt;
    } catch (error) {
      // One that was never sent waited behind others, and says nothing of the edge.
      if (error instanceof PurgeTimeout && error.attempts > 0) {
        const waitedMs = Math.max(deadlineMs, this.#recentTimeout(state)?.waitedMs ?? 0);
        state.timeout = { error, at: this.#clock.now(), waitedMs };
      }
      throw error;
    }
  }

  #stateOf(edge: Settings): EdgeState {
    const known = this.#states.get(edge);
    if (known) return known;
    const state: EdgeState = {};
    this.#states.set(edge, state);
    return state;
  }
}
