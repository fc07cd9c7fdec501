import type { PageAnswer } from "../requests/ask-page.ts";
import type { CrawlClock } from "../requests/clock.ts";

/** What a crawl requests, and at which pace. */
export interface CrawlOptions {
  /** The edge, as an origin: scheme, host and port. */
  readonly edge: string;
  /** The site behind it, as an origin; `null` to ask only the edge. */
  readonly origin: string | null;
  /** Regions that `tidemark dev` simulates at the edge; `null` to ask from here. */
  readonly from: readonly string[] | null;
  /** The site's public host, which is sent to the edge; `null` for the host of `edge`. */
  readonly host: string | null;
  /** What names the pages: see `PageSearch`. */
  readonly places: readonly string[];
  /** The most pages to request. */
  readonly limit: number;
  /** The requests at a time. */
  readonly concurrency: number;
  /** The requests a second, redirects and repetitions included. */
  readonly perSecond: number;
  /** For each answer: milliseconds. */
  readonly timeoutMs: number;
  readonly ignoresRobots: boolean;
  /** Ends the crawl; the report covers the requests so far. */
  readonly signal: AbortSignal;
  readonly progress?: (progress: CrawlProgress) => void;
  readonly standardInput: () => Promise<string>;
  /** The answers of an earlier, interrupted run, which are not requested again. Default: nothing is kept. */
  readonly record?: AnsweredBefore;
  /** Default: the machine's. */
  readonly clock?: CrawlClock;
}

export interface CrawlProgress {
  /** The current round of requests, in words; `null` while the crawl searches for pages. */
  readonly round: string | null;
  readonly done: number;
  readonly of: number;
  readonly failed: number;
}

/** The answers of a crawl, so that an interrupted one can continue where it stopped. */
export interface AnsweredBefore {
  /** The answer to a request of a round; `undefined` if it has to be sent. */
  answerTo(round: string, path: string): PageAnswer | undefined;
  /** Notes an answer. */
  note(round: string, path: string, answer: PageAnswer): void;
}
