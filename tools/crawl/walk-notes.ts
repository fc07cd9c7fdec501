import { counted, printable, whole } from "#tidemark/internal";
import type { WalkReport } from "./walk-report.ts";

/** The most failures that are listed. */
const MAX_FAILURES = 5;

/** Notes for the reader of a walk's result. */
export function walkNotes({ pages, failed, redirects, robotsDelayMs, edge, ...ended }: WalkReport): string[] {
  const hosts = Object.entries(pages.elsewhere);
  return [
    ...(pages.publicHost === null
      ? []
      : [`The sitemap is for ${printable(pages.publicHost)}; the crawl requested its pages at ${edge}.`]),
    ...(pages.hasMore
      ? [`There are more pages than these first ${whole(pages.found)}: raise --limit to request more.`]
      : []),
    ...(pages.forbidden === 0
      ? []
      : [`${pagesOf(pages.forbidden)} left out, because robots.txt forbids ${pages.forbidden === 1 ? "it" : "them"}.`]),
    ...(hosts.length === 0
      ? []
      : [
          `URLs of other hosts were left out: ${hosts.map(([host, count]) => `${whole(count)} of ${printable(host)}`).join(", ")}. If one of them is this site, name it with --host.`,
        ]),
    ...(pages.malformed === 0
      ? []
      : [
          `${counted(pages.malformed, "line or location was", "lines or locations were")} left out, because ${pages.malformed === 1 ? "it is not the URL of a page" : "they are not URLs of pages"}.`,
        ]),
    ...pages.unreadSitemaps.map((why) => `A sitemap was left out: ${printable(why)}.`),
    ...(robotsDelayMs === 0 ? [] : [`robots.txt asks for ${robotsDelayMs / 1000} s between two requests.`]),
    ...(redirects.followed === 0 ? [] : [`${counted(redirects.followed, "redirect was", "redirects were")} followed.`]),
    ...(redirects.elsewhereExample === null
      ? []
      : [
          `${counted(redirects.elsewhere, "answer redirects", "answers redirect")} to another host or to what robots.txt forbids, like ${printable(redirects.elsewhereExample)}; ${redirects.elsewhere === 1 ? "it was" : "these were"} not followed.`,
        ]),
    ...(failed.count === 0
      ? []
      : [
          `${counted(failed.count, "request")} failed:`,
          ...failed.examples
            .slice(0, MAX_FAILURES)
            .map(({ round, path, because }) => `  ${printable(path)} (${round}): ${printable(because)}`),
          ...(failed.count > MAX_FAILURES ? [`  and ${whole(failed.count - MAX_FAILURES)} more`] : []),
        ]),
    ...(ended.answeredBefore === 0
      ? []
      : [
          `${counted(ended.answeredBefore, "request")} had been answered before, and ${ended.answeredBefore === 1 ? "was" : "were"} not sent again.`,
        ]),
    ...(ended.endedBecause === null ? [] : [`The crawl ended early: ${printable(ended.endedBecause)}.`]),
    ...(ended.interrupted ? ["The crawl was interrupted; this report covers the requests until then."] : []),
  ];
}

function pagesOf(count: number): string {
  return counted(count, "page was", "pages were");
}
