import type { Clock } from "../clock.ts";
import { PurgeError, PurgeTimeout } from "../errors.ts";
import type { Settings } from "../options.ts";
import type { Receipt } from "../receipt.ts";
import { withDeadline } from "./deadline.ts";
import { failsAgain } from "./failures.ts";

/** Milliseconds for which a failing edge is waited for after the others. */
const FAILING_EDGE_MS = 1_000;

/** Milliseconds after its last failure, from which on an edge is no longer failing. */
const FORGET_AFTER_MS = 60_000;

/** An edge since it last accepted a purge. */
interface EdgeState {
  /** `heldMs`: purges with this deadline or a shorter one need not wait for the edge. */
  failure?: { readonly error: PurgeError; readonly at: number; readonly heldMs: number };
}

/** Sends to one edge; with `retries` in place of the purger's own. */
type SendTo = (edge: Settings, retries?: number) => Promise<Receipt>;

/**
 * Remembers the edges whose last purge failed in a way that can pass. While an edge is down or hangs, only the first purges
 * wait for their retries or their whole deadline there, so a backend that sends one purge after another still reaches the
 * other edges soon.
 */
export class FailingEdges {
  readonly #states = new Map<Settings, EdgeState>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Sends to all edges at once, and resolves to the outcome at each. A failing edge gets one attempt. If it is late, that is a
   * time-out before `deadlineMs`. It may only be slow, so this purge goes on there, and an edge that accepts one is no longer
   * failing.
   */
  async outcomes(
    edges: readonly Settings[],
    deadlineMs: number,
    sendTo: SendTo,
  ): Promise<PromiseSettledResult<Receipt>[]> {
    const sentAt = this.#clock.now();
    const known = edges.map((edge) => ({ edge, lastError: this.#lastError(edge, deadlineMs) }));
    const isAnyWorking = known.some(({ lastError }) => !lastError);
    const sent = known.map((each) => {
      const retries = each.lastError && isAnyWorking ? 0 : undefined;
      return { ...each, answer: this.#noted(each.edge, deadlineMs, () => sendTo(each.edge, retries)) };
    });
    const all = Promise.allSettled(sent.map(({ answer }) => answer));
    if (!isAnyWorking) return all;
    const working = sent.filter(({ lastError }) => !lastError);
    const others = Promise.allSettled(working.map(({ answer }) => answer));
    const inTime = sent.map(async ({ edge, lastError, answer }) => {
      if (!lastError) return answer;
      await others;
      const late = () => failsAgain(edge.endpoint, Math.round(this.#clock.now() - sentAt), lastError);
      const limits = { clock: this.#clock, deadlineMs: FAILING_EDGE_MS, signals: [], timedOut: late };
      return withDeadline(limits, () => answer);
    });
    return Promise.allSettled(inTime);
  }

  /** The error of a failing edge. */
  #lastError(edge: Settings, deadlineMs: number): PurgeError | undefined {
    const failure = this.#recentFailure(this.#stateOf(edge));
    return failure && failure.heldMs >= deadlineMs ? failure.error : undefined;
  }

  #recentFailure({ failure }: EdgeState): EdgeState["failure"] {
    return failure && this.#clock.now() - failure.at < FORGET_AFTER_MS ? failure : undefined;
  }

  async #noted(edge: Settings, deadlineMs: number, send: () => Promise<Receipt>): Promise<Receipt> {
    const state = this.#stateOf(edge);
    try {
      const receipt = await send();
      // Purges that were sent before this still have the old state, and their failures no longer count.
      this.#states.set(edge, {});
      return receipt;
    } catch (error) {
      // One that was never sent waited behind others, and says nothing of the edge.
      if (error instanceof PurgeError && saysThatItFails(error)) {
        // After a time-out, the edge may still answer within a longer deadline.
        const heldMs = error instanceof PurgeTimeout ? deadlineMs : Number.POSITIVE_INFINITY;
        const before = this.#recentFailure(state)?.heldMs ?? 0;
        state.failure = { error, at: this.#clock.now(), heldMs: Math.max(heldMs, before) };
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

/** Whether an edge is down or hangs. One that limits the rate of purges does not. */
function saysThatItFails({ retryable, attempts, code }: PurgeError): boolean {
  return retryable && attempts > 0 && code !== "rate-limited";
}
