import type { AppendOutcome, NewPurge } from "../ports.ts";
import type { Stamp } from "../rules/stored-response.ts";

/** What the log tells a reader: all that was purged after the reader's position. Plain data; it crosses processes. */
export interface ViewDelta {
  readonly logId: string;
  /** The position that this continues, exclusive; 0 for a reader that held nothing of this log. */
  readonly from: number;
  /** The log's head when it answered. */
  readonly to: number;
  /** What was stamped below this is invalid: purges up to it are not told one by one. */
  readonly floor: number;
  /** Purge keys with the highest number that each has, every one of them above `from` and `floor`. */
  readonly purged: readonly (readonly [key: string, seq: number])[];
  /** The lease that this read grants, counted from the moment the read began (R6). */
  readonly leaseMs: number;
}

/** A purge with the position of the caller's view, so that the reply can bring it up to this purge (R20). */
export interface AppendRequest extends NewPurge {
  readonly since: Stamp | null;
  /** The lease that the caller asks for, and its site's allowance for clocks (R7): milliseconds. */
  readonly leaseMs: number;
  readonly skewMs: number;
}

export type AppendResult =
  | (Extract<AppendOutcome, { kind: "appended" }> & { readonly delta: ViewDelta })
  | Extract<AppendOutcome, { kind: "conflict" }>;

/** The log as an isolate reaches it. Both reject when it cannot be reached. */
export interface PurgeLogClient {
  read(since: Stamp | null, leaseMs: number): Promise<ViewDelta>;
  append(purge: AppendRequest): Promise<AppendResult>;
}
