import type { Clock } from "../clock.ts";
import { type PurgeError, PurgeRateLimited, PurgeUnreachable } from "../errors.ts";
import { withDeadline } from "./deadline.ts";
import { retryPauseMs } from "./retry-pause.ts";

export type Outcome<T> = { kind: "done"; value: T } | { kind: "failed"; error: PurgeError };

export function failed(error: PurgeError): Outcome<never> {
  return { kind: "failed", error };
}

/** How long a call may take, and how often it may be sent. */
export interface CallLimits {
  deadlineMs: number;
  retries: number;
  signals: readonly AbortSignal[];
  /** Is kept up to date, for a caller with another deadline. Default: nobody looks at it. */
  progress?: Progress;
}

/** How far a call has come. */
export interface Progress {
  /** The number of requests that were sent. */
  attempts: number;
  lastError: PurgeError | undefined;
}

export function beginProgress(): Progress {
  return { attempts: 0, lastError: undefined };
}

export interface Attempts<T> extends CallLimits {
  /** Sends the call once. `attempts` counts from 1. */
  attempt(signal: AbortSignal, attempts: number): Promise<Outcome<T>>;
  /** Makes the error for a deadline that has passed. */
  timedOut(attempts: number, lastError: PurgeError | undefined): PurgeError;
}

/**
 * Sends a call, and sends it again after a failure that is retryable, until it has succeeded, the retries are used up, or
 * the next pause would pass the deadline.
 */
export function withRetries<T>(
  { deadlineMs, retries, signals, progress = beginProgress(), attempt, timedOut }: Attempts<T>,
  { clock, random }: { readonly clock: Clock; random(): number },
): Promise<T> {
  const options = {
    clock,
    deadlineMs,
    signals,
    timedOut: () => timedOut(progress.attempts, progress.lastError),
  };
  return withDeadline(options, async (deadline) => {
    for (;;) {
      progress.attempts += 1;
      const { attempts } = progress;
      const outcome = await attempt(deadline.signal, attempts);
      if (outcome.kind === "done") return outcome.value;
      const { error } = outcome;
      progress.lastError = error;
      const pauseMs = retryPauseMs(attempts, retryAfterMsOf(error), random());
      if (!error.retryable || attempts > retries || pauseMs >= deadline.leftMs()) throw error;
      await clock.sleep(pauseMs, deadline.signal);
    }
  });
}

/** Milliseconds that the edge has asked to wait; undefined if it has not. */
export function retryAfterMsOf(error: PurgeError): number | undefined {
  return error instanceof PurgeRateLimited || error instanceof PurgeUnreachable ? error.retryAfterMs : undefined;
}
