import { PurgeError } from "./purge-error.ts";

export interface PurgeTimeoutDetails {
  attempts: number;
  cause?: unknown;
}

/**
 * The deadline passed while an answer was awaited; whether the purge happened is unknown. `cause` is what ended the
 * attempt before, if there was one. Trying again is safe, and with the same `id` it happens once.
 */
export class PurgeTimeout extends PurgeError {
  override readonly name: string = "PurgeTimeout";

  constructor(message: string, details: PurgeTimeoutDetails) {
    super(message, { ...details, code: "timeout", retryable: true });
  }
}
