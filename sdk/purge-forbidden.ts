import { PurgeError } from "./purge-error.ts";

export interface PurgeForbiddenDetails {
  attempts: number;
  cause?: unknown;
}

/** The edge knows the token, but it may not purge (403). Nothing was purged. */
export class PurgeForbidden extends PurgeError {
  override readonly name: string = "PurgeForbidden";

  constructor(message: string, details: PurgeForbiddenDetails) {
    super(message, { ...details, code: "forbidden", status: 403, retryable: false });
  }
}
