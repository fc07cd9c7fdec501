import type { Receipt } from "../receipt.ts";
import type { IdentifiedRequest } from "./queued-purge.ts";

/** A purge that the edge has accepted. */
export interface SentPurge<Answer = Receipt> {
  readonly id: string;
  readonly request: IdentifiedRequest;
  readonly receipt: Answer;
  /** How often sending it has failed before. */
  readonly failures: number;
}

/** A purge that failed and will be tried again. */
export interface FailedPurge {
  readonly id: string;
  readonly request: IdentifiedRequest;
  readonly error: unknown;
  /** How often sending it has failed, this time included. */
  readonly failures: number;
  /** Milliseconds until it is due again. */
  readonly dueInMs: number;
}

/** A purge that was given up. `requeue` gives it another chance. */
export interface DeadPurge {
  readonly id: string;
  readonly request: IdentifiedRequest;
  readonly error: unknown;
  readonly failures: number;
  /** `refused`: the edge will never accept this request. `attempts`: all attempts are used up. */
  readonly because: "refused" | "attempts";
}

/** The result of one call of `drain`. */
export interface DrainReport<Answer = Receipt> {
  readonly sent: readonly SentPurge<Answer>[];
  readonly failed: readonly FailedPurge[];
  readonly dead: readonly DeadPurge[];
  /**
   * Milliseconds until another purge may be due; `null` if none waits, or if the outbox is closed. It is 0 if there is
   * more to do than one call does.
   */
  readonly nextDueInMs: number | null;
}

/** The report of two calls of `drain`, one after the other. */
export function joinReports<Answer>(first: DrainReport<Answer>, second: DrainReport<Answer>): DrainReport<Answer> {
  return {
    sent: [...first.sent, ...second.sent],
    failed: [...first.failed, ...second.failed],
    dead: [...first.dead, ...second.dead],
    nextDueInMs: second.nextDueInMs,
  };
}
