import type { AppendOutcome, NewPurge, PurgeMode } from "../../ports/purge-log.ts";
import { MAX_SKEW_MS, MAX_VIEW_AGE_MS } from "../../rules/freshness/unknown-purge-state.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";

/**
 * Sequence numbers above `from` and up to `to` that a view has passed without reading their purges. The log sends the
 * newest purges first, so a view that is too far behind for one reply is at the head at once. Until it has read the
 * rest, it treats everything stamped below `to` as purged.
 */
export interface UnreadRange {
  readonly from: number;
  readonly to: number;
}

/** The sequence number up to which a reader's view has read. */
export interface ReaderPosition extends Stamp {
  /** The range that the reader has not read yet and asks for now. Default: none. */
  readonly unread?: UnreadRange | null;
}

/**
 * How long after its fetch a response of unknown purge state is served (R8) by an isolate that the log need not know:
 * milliseconds. No receipt settles earlier.
 */
export const UNKNOWN_MS = 50;

/**
 * How long the log remembers that a reader without a name has read it, in milliseconds. Until then such a reader may
 * use R8 for a lease while the log is silent.
 */
export const REMEMBERED_MS = 24 * 3600 * 1000;

/** The same for a reader with a name, unless it gives up its leases. */
export const REMEMBERED_BY_NAME_MS = 60_000;

/**
 * The longest that a reader of any version of a site may use what it has read, in milliseconds. Its version may have had the
 * largest allowance for clocks, which is not the one that a purge counts with (R7).
 */
export const LONGEST_USE_MS = MAX_VIEW_AGE_MS + MAX_SKEW_MS;

/** The number of words in an item: two for the key's hash, and one for its sequence number. */
export const ITEM_WORDS = 3;

/** The number of a purge, and how long ago it was made, in milliseconds. */
export interface DatedPurge {
  readonly seq: number;
  readonly agoMs: number;
}

/** The most purges of which a reply tells how long ago they were made. */
export const MAX_DATED = 16;

/**
 * A reply of the log to a reader: the purges above the reader's position and those in its unread range, the newest
 * first, up to the number of keys that one reply holds. It is plain data, because it crosses processes.
 */
export interface ViewDelta {
  readonly logId: string;
  /** The position from which the reply continues, exclusive; 0 for a reader that held nothing of this log. */
  readonly from: number;
  /** The log's head at the time of the reply. */
  readonly to: number;
  /** The unread range that the reader asked for. */
  readonly unread: UnreadRange | null;
  /**
   * The reply holds only numbers above this one, because it had no room for more; 0 if it holds everything asked for.
   */
  readonly truncatedAt: number;
  /** Responses stamped below this number are invalid: the log has forgotten the purges up to it. */
  readonly floor: number;
  /**
   * The latest purges above `from` that make pages stale, the newest first, at most `MAX_DATED`: the number of each, and how
   * long before this reply it was made, in milliseconds. Default: the log does not tell.
   */
  readonly dated?: readonly DatedPurge[];
  /** The highest sequence number of a purge of each mode in this log. */
  readonly heads: Readonly<Record<PurgeMode, number>>;
  /** For each purged key in each mode, its hash and its highest sequence number: three words of 32 bits. */
  readonly items: Uint32Array;
  /** The lease that this read grants, counted from the start of the read (R6); 0 for none. */
  readonly leaseMs: number;
  /** The report that came with the read was not stored, and has to come again. Default: it was, or none came. */
  readonly reportFailed?: true;
}

/** A purge with the position of the caller's view, so that the reply can bring that view up to this purge (R20). */
export interface AppendRequest extends NewPurge {
  readonly since: Stamp | null;
  /** The lease that the caller asks for, and its site's allowance for clocks (R7): milliseconds. */
  readonly leaseMs: number;
  /**
   * The longest view age that a route of the caller's site allows, if that is more than the lease. Default: the lease.
   */
  readonly longestViewAgeMs?: number;
  readonly skewMs: number;
  /** The name under which the caller confirms what its view has reached (R25). Default: it never does. */
  readonly reader?: string | undefined;
}

export type AppendResult =
  | (Extract<AppendOutcome, { kind: "appended" }> & { readonly delta: ViewDelta })
  | Extract<AppendOutcome, { kind: "conflict" }>;

/** The log from an isolate's side. The calls reject if it cannot be reached. */
export interface PurgeLogClient {
  /**
   * `longestViewAgeMs`: the longest view age that a route of the reader's site allows. Default: the lease. `report`: what
   * the reader tells the site's ledger. Default: nothing. `reader`: the name under which it confirms what its view has
   * reached (R25). Default: it never does.
   */
  read(
    since: ReaderPosition | null,
    leaseMs: number,
    longestViewAgeMs?: number,
    report?: string,
    reader?: string,
  ): Promise<ViewDelta>;
  append(purge: AppendRequest): Promise<AppendResult>;
  /**
   * Opens a connection with a read (R26). `null` if the log has too many. Absent where a log has other ways to push, or
   * does not push.
   */
  connect?(reader: ConnectingReader): Promise<LogConnection | null>;
}

/** A reader that opens a connection to the log. */
export interface ConnectingReader {
  readonly name: string;
  readonly since: ReaderPosition | null;
  readonly leaseMs: number;
  readonly longestViewAgeMs: number;
  /** Takes in purges that the log sends. Resolves to whether the view has reached them. */
  readonly learn: (delta: ViewDelta) => Promise<boolean>;
}

/** A connection to the log. It belongs to the request that has opened it. */
export interface LogConnection {
  /** The reply to the read with which it was opened. */
  readonly first: ViewDelta;
  /** Like `read`. */
  renew(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs: number): Promise<ViewDelta>;
  /** Says that the reader has given up its leases, so that no receipt has to wait for it. */
  release(): Promise<void>;
  close(): void;
}
