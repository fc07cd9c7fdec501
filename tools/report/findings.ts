import { counted, printable, whole } from "#tidemark/internal";
import { inWords } from "../counting/lifetimes.ts";
import type { SearchReport } from "../counting/search-counts.ts";
import { timeNotes } from "../words/time-notes.ts";
import { durationOf, percentOf, timeOf } from "../words/words.ts";
import type { AccessReport } from "./access-report.ts";

/** The cost of a month by a shorter log says that it is extrapolated. Milliseconds. */
const SHORT_MS = 3_600_000;

/** The sentences that the text and the page share. */
export interface Findings {
  /** What was read. */
  readonly subject: string;
  /** What a cache would do. */
  readonly headline: string;
  readonly details: readonly string[];
  /** Notes for the reader about the logs. */
  readonly warnings: readonly string[];
}

/** The report in sentences. */
export function findingsOf(report: AccessReport): Findings {
  const { prediction, requests, from, to, lifetimeSeconds, busiestHour, cost, loggedCache, keys } = report;
  if (from === null || to === null) {
    return {
      subject: "No request was found.",
      headline: "There is nothing to report.",
      details: [],
      warnings: warningsOf(report),
    };
  }
  const { hitRatio, marginOfSampling, hitRatioWithoutKeyRules, sparedPerHour, crawlerHitRatio } = prediction;
  const margin = marginOfSampling >= 0.0005 ? ` (sampled, ± ${(marginOfSampling * 100).toFixed(1)} points)` : "";
  const span = Date.parse(to) - Date.parse(from);
  const details = [
    `Without the key rules it would be ${percentOf(hitRatioWithoutKeyRules)}: ${counted(keys.withoutRules, "spelling")} ${keys.withoutRules === 1 ? "is" : "are"} ${counted(keys.withRules, "page")}.`,
    ...(requests.byCrawlers === 0
      ? []
      : [
          `Crawlers make ${percentOf(requests.byCrawlers / requests.all)} of the requests, and ${percentOf(crawlerHitRatio)} of theirs would be hits.`,
        ]),
    ...(busiestHour === null
      ? []
      : [
          `In the busiest hour, from ${timeOf(busiestHour.from)}, the origin would get ${counted(busiestHour.misses, "request")} instead of ${whole(busiestHour.requests)}.`,
        ]),
    ...(loggedCache === null
      ? []
      : [
          `The cache that wrote these logs answered ${percentOf(loggedCache.hitRatio)} of the ${whole(loggedCache.requests)} requests whose cache status it wrote.`,
        ]),
    costText(cost, span),
  ];
  return {
    subject: `${counted(requests.all, "request")} in ${durationOf(span)}, from ${timeOf(from)} to ${timeOf(to)} UTC`,
    headline: `With a lifetime of ${inWords(lifetimeSeconds)}, a cache would answer ${percentOf(hitRatio)} of them${margin}. That saves the origin ${counted(sparedPerHour, "request")} an hour.`,
    details,
    warnings: warningsOf(report),
  };
}

function costText(cost: AccessReport["cost"], spanMs: number): string {
  const { requestsPerMonth, dollarsPerMonth, fitsFreePlan, readIn } = cost;
  const extrapolated = spanMs < SHORT_MS ? `, extrapolated from ${durationOf(spanMs)}` : "";
  const free = fitsFreePlan ? " The free plan would have room for it." : "";
  return `On Cloudflare it costs about $${dollarsPerMonth.toFixed(2)} a month, for ${whole(requestsPerMonth)} requests at the prices of ${readIn}${extrapolated}.${free}`;
}

/** The searches in one sentence; `null` if there are none. */
export function searchText(searches: SearchReport | null): string | null {
  if (searches === null || searches.suggestedLength === 0) return null;
  const { parameter, cutOffs, suggestedLength } = searches;
  const found = cutOffs.find(({ length }) => length === suggestedLength)!;
  return `Store queries of up to ${suggestedLength} characters in ${printable(parameter)}: ${percentOf(found.hitRatio)} of its requests are hits, with ${counted(found.entries, "entry", "entries")}.`;
}

function warningsOf({ logs, requests }: AccessReport): string[] {
  const examples = logs.examples.map(({ file, line, text }) => `  ${file}:${line}: ${printable(text)}`);
  return [
    ...(logs.interrupted ? ["The reading was interrupted: this is of the lines until then."] : []),
    ...(logs.broken === 0
      ? []
      : [
          `${whole(logs.broken)} of ${whole(logs.lines)} lines could not be read, and do not count. The first:`,
          ...examples,
        ]),
    ...(requests.notHttp === 0
      ? []
      : [`${counted(requests.notHttp, "line")} ${requests.notHttp === 1 ? "is" : "are"} not about an HTTP request.`]),
    ...(requests.purges === 0 ? [] : [`Not counted as requests: ${counted(requests.purges, "call")} of PURGE or BAN.`]),
    ...(logs.own === 0 ? [] : [`${counted(logs.own, "answer")} of the edge itself, like host-unknown, do not count.`]),
    ...timeNotes(logs),
    ...logs.cutOff.map((file) => `${file} is cut off; the readable part counts.`),
  ];
}

const ONE_SITE =
  "The lines name no host, so the same path of several hosts counts as one page. With $host (nginx) or %v (Apache) in front of the line they name it, in HAProxy with capture request header Host len 64 in the frontend.";

/** The assumptions of the prediction, which the log cannot show. */
export const assumptionsOf = ({ logs }: AccessReport): readonly string[] => [
  "A log shows neither cookies nor Cache-Control. The prediction assumes the config below, and pages that are the same for every visitor. For other pages, set pass: true, so that they go to the origin.",
  "The cache begins empty, serves all visitors, and has one variant of each page.",
  ...(logs.lacksHosts ? [ONE_SITE] : []),
];
