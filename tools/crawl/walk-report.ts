import type { PageAnswer } from "../requests/ask-page.ts";
import { failureOf } from "./failure.ts";
import type { SiteWalk } from "./site-walk.ts";

/** What the reports of a crawl and a warming have in common. */
export interface WalkReport {
  readonly version: 1;
  readonly edge: string;
  readonly pages: {
    /** The pages that were found and may be asked for. */
    readonly found: number;
    /** Whether there are more of them than the limit. */
    readonly hasMore: boolean;
    /** Pages that robots.txt forbids. */
    readonly forbidden: number;
    /** URLs of other hosts, which were left out. */
    readonly elsewhere: Readonly<Record<string, number>>;
    /** The host that the sitemap names instead of the edge's; `null` if it is the same. */
    readonly publicHost: string | null;
    readonly malformed: number;
    /** Sitemaps that could not be read, and why. */
    readonly unreadSitemaps: readonly string[];
  };
  /** Requests that got no answer, a server error, a 429 or another 4xx. */
  readonly failed: { readonly count: number; readonly examples: readonly Failure[] };
  readonly redirects: {
    readonly followed: number;
    /** Pages that redirect to another host; the redirects were not followed. */
    readonly elsewhere: number;
    readonly elsewhereExample: string | null;
  };
  /** The pause that robots.txt asks for between two requests, in milliseconds. */
  readonly robotsDelayMs: number;
  /** Why it ended early, if the site sent a long Retry-After; `null` otherwise. */
  readonly endedBecause: string | null;
  /** Whether Ctrl-C ended it. */
  readonly interrupted: boolean;
  /** The requests that an earlier run was answered, so that they were not sent again. */
  readonly answeredBefore: number;
}

/** The result of a crawl or a warming. */
export interface WalkOutcome<Report extends WalkReport> {
  readonly report: Report;
  /** Whether the edge did not answer a single request. */
  readonly isSilent: boolean;
}

/** A page whose request failed, once for each place and pass. */
export interface Failure {
  readonly round: string;
  readonly path: string;
  readonly because: string;
}

/** The answers of one round of requests, in the order of the pages. */
export interface Round {
  readonly name: string;
  readonly answers: readonly (PageAnswer | null)[];
}

const MAX_EXAMPLES = 20;

export function walkReport(walk: SiteWalk, rounds: readonly Round[], interrupted: boolean): WalkReport {
  const { paths, hasMore, forbidden, elsewhere, malformed, unread } = walk.pages;
  const failures = rounds.flatMap(({ name, answers }) =>
    answers.flatMap((answer, index) => {
      const because = failureOf(answer);
      return because === null ? [] : [{ round: name, path: paths[index]!, because }];
    }),
  );
  const answered = rounds.flatMap(({ answers }) =>
    answers.flatMap((answer) => (answer?.kind === "answered" ? [answer] : [])),
  );
  const leaving = answered.flatMap((answer) => answer.elsewhere ?? []);
  return {
    version: 1,
    edge: walk.site.edge.origin,
    pages: {
      found: paths.length,
      hasMore,
      forbidden,
      elsewhere,
      publicHost: walk.site.publicHost,
      malformed,
      unreadSitemaps: unread,
    },
    failed: { count: failures.length, examples: failures.slice(0, MAX_EXAMPLES) },
    redirects: {
      followed: answered.reduce((sum, { redirects }) => sum + redirects, 0),
      elsewhere: leaving.length,
      elsewhereExample: leaving[0] ?? null,
    },
    robotsDelayMs: walk.robots.delayMs,
    endedBecause: walk.endedBecause,
    interrupted,
    answeredBefore: walk.answeredBefore,
  };
}

/** Whether there was no answer at all, so that nothing is known about the pages. */
export function isSilent(rounds: readonly Round[]): boolean {
  const answers = rounds.flatMap((round) => round.answers.flatMap((answer) => answer ?? []));
  return answers.length > 0 && answers.every((answer) => answer.kind === "failed" && answer.isSilent);
}
