import { PurgeError } from "./purge-error.ts";

export interface PurgeUnauthorizedDetails {
  attempts: number;
  cause?: unknown;
}

/** The edge does not know the token (401). Nothing was purged. */
export class PurgeUnauthorized extends PurgeError {
  override readonly name: string = "PurgeUnauthorized";

  constructor(message: string, details: PurgeUnauthorizedDetails) {
    super(message, { ...details, code: "unauthorized", status: 401, retryable: false });
  }
}
