import type { AppendOutcome, NewPurge, PurgeMode } from "../../ports.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import type { UnreadRange } from "../view/unread-range.ts";

/** How far a reader's view has come. */
export interface ReaderPosition extends Stamp {
  /** What the reader passed without being told, and wants to hear now. Default: nothing. */
  readonly untold?: UnreadRange | null;
}

/** An item of a delta: the two words of a key's hash, and its number. */
export const ITEM_WORDS = 3;

/**
 * What the log tells a reader: all that was purged after the reader's position, and what the reader had not been told
 * before; the newest first, in as many keys as one reply holds. Plain data; it crosses processes.
 */
export interface ViewDelta {
  readonly logId: string;
  /** The position that this continues, exclusive; 0 for a reader that held nothing of this log. */
  readonly from: number;
  /** The log's head when it answered. */
  readonly to: number;
  /** What the reader asked for besides. */
  readonly untold: UnreadRange | null;
  /** The reply ends here: of what was asked for, only numbers above this are told. 0 if it is told whole. */
  readonly toldAbove: number;
  /** What was stamped below this is invalid: the log has forgotten the purges up to it. */
  readonly floor: number;
  /** The highest number that a purge of each mode has had in this log. */
  readonly heads: Readonly<Record<PurgeMode, number>>;
  /** Hashes of keys in their modes, each with the highest number it has: three words of 32 bits an item. */
  readonly items: Uint32Array;
  /** The lease that this read grants, counted from the moment the read began (R6). */
  readonly leaseMs: number;
}

/** A purge with the position of the caller's view, so that the reply can bring it up to this purge (R20). */
export interface AppendRequest extends NewPurge {
  readonly since: Stamp | null;
  /** The lease that the caller asks for, and its site's allowance for clocks (R7): milliseconds. */
  readonly leaseMs: number;
  /** The oldest view that a route of the caller's site lets decide, if that is more than the lease. Default: the lease. */
  readonly withinMs?: number;
  readonly skewMs: number;
}

export type AppendResult =
  | (Extract<AppendOutcome, { kind: "appended" }> & { readonly delta: ViewDelta })
  | Extract<AppendOutcome, { kind: "conflict" }>;

/** The log as an isolate reaches it. Both reject when it cannot be reached. */
export interface PurgeLogClient {
  /** `withinMs`: the oldest view that a route of the reader's site lets decide. Default: the lease. */
  read(since: ReaderPosition | null, leaseMs: number, withinMs?: number): Promise<ViewDelta>;
  append(purge: AppendRequest): Promise<AppendResult>;
}
