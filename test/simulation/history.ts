import type { Told } from "./told.ts";

/** What purges find a page under. */
export interface Page {
  readonly target: string;
  readonly tags: readonly string[];
}

/** One request for a page that the origin answered. Its number stands in the answer. */
export interface Fetched extends Page {
  readonly number: number;
  /** The world's order of events when it was sent off. */
  readonly order: number;
  /** When it was sent off, and when its answer's head arrived, on the world's clock: epoch milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
  /** What the page was when the origin looked. */
  readonly version: number;
  /** Who caused it: a cookie or an `Authorization`; `null` for somebody without either. */
  readonly identity: string | null;
  /** Whether the origin said that the answer is for one visitor, for everybody, or nothing of the kind. */
  readonly audience: "one" | "all" | "unsaid";
  /** The language that selected it; `null` where the page is the same in all. */
  readonly language: string | null;
  /** How long the origin lets it be used: fresh, after that while it is fetched anew, or for an origin that fails. */
  readonly freshMs: number;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
}

/** A number of a log. */
export interface Purged {
  readonly name: string;
  /** A purge that its caller has a receipt of, or what the edge told the log after an unsafe request. */
  readonly kind: "purge" | "invalidation";
  readonly mode: "hard" | "soft" | "invalidate";
  readonly logId: string;
  readonly seq: number;
  /** The world's order of events when the log gave it its number. */
  readonly order: number;
  /** When it has settled, on the world's clock: epoch milliseconds; never, as long as nobody has a receipt of it. */
  settledAt: number;
  readonly matches: Matches;
}

/** Which pages a purge ends. */
export type Matches = (page: Page) => boolean;

/** A page that an unsafe request changed. */
export interface Changed {
  readonly target: string;
  /** The world's order of events when the origin changed it. */
  readonly order: number;
  readonly isolate: string;
}

/** One answer that a client got whole. */
export interface Answered {
  readonly request: string;
  readonly arrivedAt: number;
  readonly xCache: string | null;
  readonly identity: string | null;
  readonly language: string;
  /** The purge whose token the request carried; `null` for none. */
  readonly after: Purged | null;
  /** Whose bytes they are. */
  readonly fetched: Fetched;
  /** The fetch or validation that the answer rests on. */
  readonly confirmed: Fetched;
  /** What the isolate had been told when it chose this answer, and when it gave it. */
  readonly chosenBy: Told;
  readonly givenBy: Told;
}

/** Answers of a page that was in store, not of a fetch that the client waited for. */
export const FROM_STORE: readonly (string | null)[] = ["HIT", "UPDATING", "STALE"];

/** A page that an isolate put into the shared tier, and what it had been told by then. */
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
  /** When the read before it began, if that one had been answered, all of it, and no token was under way. */
  readonly goodSince: number | null;
}

/** Everything that happened, as the origin, the log, its callers and the clients saw it. */
export class History {
  readonly fetches = new Map<number, Fetched>();
  readonly purges: Purged[] = [];
  readonly answers: Answered[] = [];
  readonly changes: Changed[] = [];
  readonly kept: Kept[] = [];
  readonly reads: LogRead[] = [];
  /** When the origin failed on a page: epoch milliseconds. */
  readonly failures: { readonly target: string; readonly at: number }[] = [];
  /** The isolates that gave up telling the log of a change, and counted it. */
  readonly gaveUp = new Set<string>();
  /** The requests that have arrived and were not answered yet. */
  readonly unanswered = new Set<string>();
  /** What the edge answered in the origin's place, and to a request for which page that arrived when. */
  readonly errors: { readonly request: string; readonly target: string; readonly arrivedAt: number }[] = [];
  /** Requests whose answer ended before its time without saying so. */
  readonly cutShort: string[] = [];
  /** By the id that a caller gave: the numbers that one log gave to it. */
  readonly numbersOfIds = new Map<string, Set<number>>();
  /** Purges that their log, living still, does not know any more. */
  readonly forgotten: string[] = [];
  /** Purges that were to be repeated, by a log that lives still, and until when: epoch milliseconds. */
  readonly owed: { readonly name: string; readonly isPaid: boolean }[] = [];
  /** The pages that a purge was to fetch anew, and did say it had. */
  readonly refreshed: { readonly purge: Purged; readonly target: string; readonly upTo: number }[] = [];
}
