import type { Lease, Told } from "./log/told.ts";

/** The properties by which purges find a page. */
export interface Page {
  readonly target: string;
  readonly tags: readonly string[];
}

/** A request for a page that the origin answered. The answer contains its number. */
export interface Fetched extends Page {
  readonly number: number;
  /** Its place in the world's order of events when it was sent. */
  readonly order: number;
  /** When it was sent, and when its answer's head arrived, on the world's clock: epoch milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The page's version when the origin read it. */
  readonly version: number;
  /** The visitor who caused it, as a cookie or an `Authorization`; `null` for one without either. */
  readonly identity: string | null;
  /** Whether the origin said that the answer is for one visitor, for everybody, or neither. */
  readonly audience: "one" | "all" | "unsaid";
  /** The language that selected it; `null` if the page is the same in all languages. */
  readonly language: string | null;
  /**
   * For how long the origin permits its use: while fresh, after that while it is refetched, or in place of an error.
   */
  readonly freshMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
}

/** A purge with a number of a log. */
export interface Purged {
  readonly name: string;
  /** A purge whose caller has its receipt, or an invalidation that the edge sent to the log after an unsafe request. */
  readonly kind: "purge" | "invalidation";
  readonly mode: "hard" | "soft" | "invalidate";
  readonly logId: string;
  readonly seq: number;
  /** Its place in the world's order of events when the log gave it its number. */
  readonly order: number;
  /** When that was, on the world's clock: epoch milliseconds. */
  readonly at: number;
  /** When it has settled, on the world's clock: epoch milliseconds; infinity as long as nobody has its receipt. */
  settledAt: number;
  /**
   * Until when a reader of the log before may use what it read there, if this purge's log did not know of that one (R13):
   * epoch milliseconds. Absent if it did, or if there was none.
   */
  readonly unknownUntil?: number | undefined;
  readonly matches: Matches;
}

/** Whether a purge covers a page. */
export type Matches = (page: Page) => boolean;

/** A page that an unsafe request changed. */
export interface Changed {
  readonly target: string;
  /** Its place in the world's order of events when the origin changed it. */
  readonly order: number;
  readonly isolate: string;
}

/** What is known of one isolate's knowledge of the logs. Moments are in milliseconds on the clock of the record. */
export interface Knowledge {
  readonly lease: Lease;
  /** When it had surely learned of a purge; `null` if that is not sure. */
  heardAt(purge: Purged): number | null;
  /** The last moment at which it can have learned of a purge first; `null` if it cannot have. */
  heardAtLast(purge: Purged): number | null;
}

/** A complete answer that a client received. */
export interface Answered {
  readonly request: string;
  readonly arrivedAt: number;
  readonly xCache: string | null;
  readonly identity: string | null;
  readonly language: string;
  /** The purge whose token the request carried; `null` for none. */
  readonly after: Purged | null;
  /** The fetch of its bytes. */
  readonly fetched: Fetched;
  /** The fetch or validation on which the answer rests. */
  readonly confirmed: Fetched;
  /** The knowledge of the parent that was asked for it; `null` if none was. */
  readonly parent: Knowledge | null;
  /** The isolate's knowledge of the log when it chose this answer, and when it gave it. */
  readonly chosenBy: Knowledge;
  readonly givenBy: Knowledge;
}

/** The `X-Cache` of answers with a stored page, for which the client did not wait for a fetch. */
export const FROM_STORE: readonly (string | null)[] = ["HIT", "UPDATING", "STALE"];

/** A page that an isolate put into the shared tier, and its knowledge of the log at that time. */
export interface Kept {
  readonly isolate: string;
  readonly fetched: Fetched;
  readonly confirmed: Fetched;
  readonly told: Told;
}

/** One read of the log. */
export interface LogRead {
  readonly isolate: string;
  /** Epoch milliseconds of the world's clock. */
  readonly begunAt: number;
  /** The start of the read before it, if that read was answered completely and no token was under way. */
  readonly goodSince: number | null;
}

/** The record of all events, as the origin, the log, its callers and the clients saw them. */
export class History {
  readonly fetches = new Map<number, Fetched>();
  readonly purges: Purged[] = [];
  readonly answers: Answered[] = [];
  readonly changes: Changed[] = [];
  /** The knowledge of parents when they answered their children. */
  readonly parents: Told[] = [];
  readonly kept: Kept[] = [];
  readonly reads: LogRead[] = [];
  /** When the origin failed for a page: epoch milliseconds. */
  readonly failures: { readonly target: string; readonly at: number }[] = [];
  /** The isolates that gave up sending an invalidation to the log, and counted it. */
  readonly gaveUp = new Set<string>();
  /** The requests that have arrived and are not answered yet. */
  readonly unanswered = new Set<string>();
  /** Errors that the edge itself answered, each with its request, the page, and the time of the request's arrival. */
  readonly errors: { readonly request: string; readonly target: string; readonly arrivedAt: number }[] = [];
  /** Requests whose answer has other bytes than its fields say, without the client being able to see it. */
  readonly wrongBytes: string[] = [];
  /** The origin's bodies that nobody has read to their end or cancelled. */
  readonly openBodies = new Set<{ readonly of: string }>();
  /** What is held once all is over, in words. */
  readonly held: string[] = [];
  /** For each id that a caller gave: the numbers that one log gave to it. */
  readonly numbersOfIds = new Map<string, Set<number>>();
  /** Purges that their log, which still exists, no longer knows. */
  readonly forgotten: string[] = [];
  /** The repetitions that a log, which still exists, was to carry out, and whether it did. */
  readonly owed: { readonly name: string; readonly isPaid: boolean }[] = [];
  /** The pages that a purge was to refetch and reported as refetched. */
  readonly refreshed: { readonly purge: Purged; readonly target: string; readonly upTo: number }[] = [];
}
