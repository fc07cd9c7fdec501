import { PurgeError } from "./purge-error.ts";

export interface PurgeConflictDetails {
  attempts: number;
  cause?: unknown;
}

/** The `id` was used before for another purge (409). That one stands, this one did not happen. */
export class PurgeConflict extends PurgeError {
  override readonly name: string = "PurgeConflict";

  constructor(message: string, details: PurgeConflictDetails) {
    super(message, { ...details, code: "conflict", status: 409, retryable: false });
  }
}
