/** Every reason for which a purge can fail. The first ten are the edge's own and equal the `code` of its answers. */
export type PurgeErrorCode =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "not-found"
  | "method-not-allowed"
  | "conflict"
  | "too-large"
  | "unsupported-media-type"
  | "rate-limited"
  | "unavailable"
  /** No usable endpoint or token; nothing was sent. */
  | "not-configured"
  /** The purger was closed before; nothing was sent. */
  | "closed"
  /** The connection failed before an answer began. */
  | "unreachable"
  /** An answer began and did not end. */
  | "incomplete-answer"
  /** Something answered that is no Tidemark edge. */
  | "unexpected-answer"
  /** The edge answered with a 5xx that says nothing about trying again. */
  | "server-error"
  /** The deadline passed while an answer was awaited. */
  | "timeout";

export interface PurgeErrorDetails {
  code: PurgeErrorCode;
  status?: number | undefined;
  retryable: boolean;
  attempts: number;
  cause?: unknown;
}

/**
 * A purge that failed, or whose outcome is unknown. Thrown itself for `not-configured` and `closed`, else as one of
 * its subclasses.
 *
 * Not in the family: a `TypeError` for a call that cannot be right (an empty list, a misspelt field), thrown before
 * anything is sent, and the reason of an `AbortSignal`.
 */
export class PurgeError extends Error {
  override readonly name: string = "PurgeError";
  readonly code: PurgeErrorCode;
  /** The HTTP status of the last answer, if there was one. */
  readonly status: number | undefined;
  /** Whether the same call can succeed later without anything being changed. */
  readonly retryable: boolean;
  /** How many requests were sent. */
  readonly attempts: number;

  constructor(message: string, details: PurgeErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.status = details.status;
    this.retryable = details.retryable;
    this.attempts = details.attempts;
  }
}
