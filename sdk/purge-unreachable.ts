import { PurgeError } from "./purge-error.ts";

export interface PurgeUnreachableDetails {
  code:
    | "unreachable"
    | "unavailable"
    | "incomplete-answer"
    | "unexpected-answer"
    | "server-error"
    | "not-found"
    | "method-not-allowed";
  status?: number | undefined;
  retryable: boolean;
  attempts: number;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/**
 * There was no answer from an edge: a failed connection, a 5xx, half a response, or an answer of something else.
 * Unless nothing was reached at all, whether the purge happened is unknown.
 */
export class PurgeUnreachable extends PurgeError {
  override readonly name: string = "PurgeUnreachable";
  /** Milliseconds to wait before the next try, counted from the answer; undefined where none was named. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: PurgeUnreachableDetails) {
    super(message, details);
    this.retryAfterMs = details.retryAfterMs;
  }
}
