import { styleText } from "node:util";
import { counted, printable, whole } from "#tidemark/internal";
import { table } from "../words/table.ts";
import { msOf, percentOf } from "../words/words.ts";
import type { CrawlReport, PlaceReport } from "./crawl.ts";
import type { PassFigures } from "./pass-figures.ts";
import { walkNotes } from "./walk-notes.ts";

/** The most pages without a hit that are listed. */
const MAX_NOT_HITS = 5;

/**
 * A crawl for a terminal: the table, notes for the reader, and the finding. `isKept`: the answers are in a file, from
 * which the next run continues.
 */
export function crawlText(report: CrawlReport, isKept: boolean): string {
  const bold = (text: string) => styleText("bold", text, { stream: process.stdout });
  const { places, all, origin } = report;
  const rows = [
    ...places.flatMap((place) => rowsOf(placeName(place), place)),
    ...(places.length > 1 ? rowsOf("all", all) : []),
  ];
  const goesOn = isKept && (report.interrupted || report.endedBecause !== null);
  const notes = [
    ...notHitLines(report),
    ...distanceLines(places),
    ...walkNotes(report),
    ...(goesOn ? ["The same command continues from here."] : []),
  ];
  return [
    bold(subjectOf(report)),
    "",
    ...table(["", "", "COUNT", "HIT RATIO", "AVERAGE", "MEDIAN", "P95"], rows, 2),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
    bold(finding(places, origin !== null)),
    "",
  ].join("\n");
}

/** What was asked. */
function subjectOf({ pages, edge, places, origin }: CrawlReport): string {
  const where = places.length > 1 ? `, from ${places.length} regions` : "";
  const directly = origin === null ? "" : `, and once at ${origin}`;
  return `${counted(pages.found, "page")} of ${edge}, requested twice${where}${directly}`;
}

/** The name of a place in a table. */
export function placeName({ region, city }: PlaceReport): string {
  return region === null ? "this machine" : `${city}`;
}

/** The place where the edge saves the most time, in a sentence. */
export function finding(places: readonly PlaceReport[], hasOrigin: boolean): string {
  const compared = places.flatMap((place) => {
    const with_ = place.second.medianMs;
    const without = (hasOrigin ? place.origin : place.first)?.medianMs ?? null;
    return with_ === null || without === null ? [] : [{ place, with_, without }];
  });
  const [best] = compared.sort((a, b) => b.without - b.with_ - (a.without - a.with_));
  if (best === undefined) return "There is nothing to compare, because too few requests were answered.";
  const { place, with_, without } = best;
  const from = place.region === null ? "From here" : `From ${place.city}`;
  const gain = `${from} a page takes ${msOf(with_)} instead of ${msOf(without).replace(" ms", "")}`;
  if (with_ >= without || msOf(with_) === msOf(without)) {
    const other = hasOrigin ? "from the origin" : "in the first pass";
    return `${from} a page takes ${msOf(with_)}, and ${msOf(without)} ${other}: the edge does not make it faster.`;
  }
  return hasOrigin ? `${gain}.` : `${gain} when it is requested again.`;
}

function rowsOf(name: string, { first, second, origin }: Pick<CrawlReport["all"], "first" | "second" | "origin">) {
  return [
    row(name, "first pass", first, true),
    row("", "second pass", second, true),
    ...(origin === null ? [] : [row("", "origin", origin, false)]),
  ];
}

function row(name: string, pass: string, figures: PassFigures, isEdge: boolean): string[] {
  const { count, hitRatio, averageMs, medianMs, p95Ms } = figures;
  const time = (ms: number | null) => (ms === null ? "-" : msOf(ms));
  const hits = !isEdge || count === 0 ? "-" : hitRatio === null ? "unknown" : percentOf(hitRatio);
  return [name, pass, whole(count), hits, time(averageMs), time(medianMs), time(p95Ms)];
}

function notHitLines({ notHits, all }: CrawlReport): string[] {
  if (all.second.count > 0 && all.second.hitRatio === null) {
    return ["The answers do not tell whether they came from a cache: they have neither X-Cache nor a similar field."];
  }
  if (notHits.count === 0) return [];
  const named = notHits.examples
    .slice(0, MAX_NOT_HITS)
    .map(({ path, word, because }) => `${printable(path)} (${printable(because ?? word)})`);
  const more = notHits.count - named.length;
  const rest = more === 0 ? "" : ` and ${whole(more)} more`;
  return [`No hits in the second pass: ${named.join(", ")}${rest}.`];
}

function distanceLines(places: readonly PlaceReport[]): string[] {
  if (places[0]?.region === null) return [];
  if (places.every(({ clientMs, originMs }) => clientMs === 0 && originMs === 0)) {
    return ["The regions have no latency: tidemark dev --latency simulates that of public networks."];
  }
  return ["tidemark dev simulates the latency; everything else is measured."];
}
