import type { SiteStats, SpanStats } from "../../wire/stats.ts";
import { errorsIn } from "../../wire/text/stats-text.ts";

/** Rates per second, for a time that all isolates have reported. */
export interface Rates {
  readonly requestsPerSecond: number;
  readonly originPerSecond: number;
  /** Answers with a status from 400 on. */
  readonly errorsPerSecond: number;
  readonly fromCacheShare: number;
}

/** The latest minute that all isolates have reported, as rates. */
export interface LastMinute extends Rates {
  readonly at: string;
}

/** The time between two looks at an edge. */
export interface SinceLook extends Rates {
  readonly seconds: number;
}

const MINUTE_MS = 60_000;
const MIN_SECONDS = 1;

/**
 * `null` if no complete minute had requests. Isolates report once a minute, so a minute is complete when another one
 * has passed. If all have just reported, a minute is complete when it is over, and a first, unfinished one counts up to
 * now.
 */
export function lastMinuteOf({ spans, spanMs, to, isCurrent }: SiteStats): LastMinute | null {
  const now = Date.parse(to);
  const completeAfterMs = isCurrent ? MINUTE_MS : 2 * MINUTE_MS;
  const span = spans.findLast(({ at }) => Date.parse(at) + completeAfterMs <= now) ?? spans.at(-1);
  if (spanMs !== MINUTE_MS || span === undefined || span.requests === 0) return null;
  const seconds = isCurrent ? Math.max(MIN_SECONDS, Math.min(now - Date.parse(span.at), MINUTE_MS) / 1000) : 60;
  return { at: span.at, ...ratesOf(countsOf([span]), seconds) };
}

/** `null` if not all isolates had reported for both looks, or if no time passed. */
export function sinceLook(before: SiteStats, now: SiteStats): SinceLook | null {
  const seconds = (Date.parse(now.to) - Date.parse(before.to)) / 1000;
  if (!before.isCurrent || !now.isCurrent || !(seconds > 0)) return null;
  // The oldest minutes of the first look have left the window of the second one.
  const first = Date.parse(now.from);
  const [was, is] = [before, now].map(({ spans }) => countsOf(spans.filter(({ at }) => Date.parse(at) >= first)));
  const since = { ...is! };
  for (const name of Object.keys(since) as (keyof Counts)[]) since[name] -= was![name];
  return { seconds, ...ratesOf(since, seconds) };
}

interface Counts {
  requests: number;
  fromCache: number;
  asked: number;
  errors: number;
}

function countsOf(spans: readonly SpanStats[]): Counts {
  const sum = (count: (span: SpanStats) => number) => spans.reduce((total, span) => total + count(span), 0);
  return {
    requests: sum(({ requests }) => requests),
    fromCache: sum(({ fromCache }) => fromCache),
    asked: sum(({ origin }) => origin.asked),
    errors: sum(({ statuses }) => Object.values(errorsIn(statuses)).reduce((total, each) => total + each, 0)),
  };
}

function ratesOf({ requests, fromCache, asked, errors }: Counts, seconds: number): Rates {
  return {
    requestsPerSecond: requests / seconds,
    originPerSecond: asked / seconds,
    errorsPerSecond: errors / seconds,
    fromCacheShare: requests === 0 ? 0 : fromCache / requests,
  };
}
