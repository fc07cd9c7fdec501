import { PurgeError } from "./purge-error.ts";

export interface PurgeRateLimitedDetails {
  attempts: number;
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Too many requests (429), and waiting longer would have passed the deadline or the number of retries. */
export class PurgeRateLimited extends PurgeError {
  override readonly name: string = "PurgeRateLimited";
  /** Milliseconds to wait before the next try, counted from the answer; undefined where the edge did not say. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: PurgeRateLimitedDetails) {
    super(message, { ...details, code: "rate-limited", status: 429, retryable: true });
    this.retryAfterMs = details.retryAfterMs;
  }
}
