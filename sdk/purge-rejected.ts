import { PurgeError } from "./purge-error.ts";

/** One thing that is wrong with a request. */
export interface RejectedItem {
  /** Where it is, like `tags[3]`; empty for the request as a whole. */
  path: string;
  message: string;
}

export interface PurgeRejectedDetails {
  code: "invalid" | "too-large" | "unsupported-media-type";
  status: number;
  attempts: number;
  errors: readonly RejectedItem[];
  cause?: unknown;
}

/** The edge found the request wrong (400, 413, 415). Nothing was purged, not even the items that were right. */
export class PurgeRejected extends PurgeError {
  override readonly name: string = "PurgeRejected";
  /** What was wrong where; empty where the edge did not say. */
  readonly errors: readonly RejectedItem[];

  constructor(message: string, details: PurgeRejectedDetails) {
    super(message, { ...details, retryable: false });
    this.errors = details.errors;
  }
}
