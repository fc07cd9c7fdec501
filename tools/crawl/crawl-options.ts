import type { PageAnswer } from "../requests/ask-page.ts";
import type { CrawlClock } from "../requests/clock.ts";

/** What a crawl asks, and how politely. */
export interface CrawlOptions {
  /** The edge, as an origin: scheme, host and port. */
  readonly edge: string;
  /** The site behind it, as an origin; `null` to ask the edge alone. */
  readonly origin: string | null;
  /** Regions that `tidemark dev` simulates at the edge; `null` to ask from here. */
  readonly from: readonly string[] | null;
  /** The site's public host, which is sent to the edge; `null` for the host of `edge`. */
  readonly host: string | null;
  /** What names the pages: see `PageSearch`. */
  readonly places: readonly string[];
  /** The pages that are asked for at most. */
  readonly limit: number;
  /** The requests at a time. */
  readonly concurrency: number;
  /** The requests a second, redirects and repetitions included. */
  readonly perSecond: number;
  /** For each answer: milliseconds. */
  readonly timeoutMs: number;
  readonly ignoresRobots: boolean;
  /** Ends the crawl; what was done until then is reported. */
  readonly signal: AbortSignal;
  readonly progress?: (progress: CrawlProgress) => void;
  readonly standardInput: () => Promise<string>;
  /** What an earlier run that was interrupted has asked, which is not asked again. Default: nothing is kept. */
  readonly record?: AnsweredBefore;
  /** Default: the machine's. */
  readonly clock?: CrawlClock;
}

export interface CrawlProgress {
  /** The round of requests under way, in words; `null` while the pages are being looked for. */
  readonly round: string | null;
  readonly done: number;
  readonly of: number;
  readonly failed: number;
}

/** The answers that a crawl has had, so that one that was interrupted goes on where it ended. */
export interface AnsweredBefore {
  /** The answer to a request of a round; `undefined` if it is to be asked. */
  answerTo(round: string, path: string): PageAnswer | undefined;
  /** Notes an answer. */
  note(round: string, path: string, answer: PageAnswer): void;
}
