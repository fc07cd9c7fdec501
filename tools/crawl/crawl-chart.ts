import { counted } from "#tidemark/internal";
import { type BarGroup, barChart } from "../charts/bar-chart.ts";
import { msOf } from "../words/words.ts";
import type { CrawlReport, PlaceReport } from "./crawl.ts";
import { finding, placeName } from "./crawl-text.ts";

/** The medians of a crawl as an SVG, with its finding above. */
export function crawlChart({ places, pages, edge, origin }: CrawlReport): string {
  const what = `Median times to the response head, ${counted(pages.found, "page")} of ${edge}`;
  return barChart(finding(places, origin !== null), what, places.map(groupOf));
}

function groupOf(place: PlaceReport): BarGroup {
  const medians = [
    { label: "origin", ms: place.origin?.medianMs ?? null, isMarked: false },
    { label: "first pass", ms: place.first.medianMs, isMarked: false },
    { label: "second pass", ms: place.second.medianMs, isMarked: true },
  ];
  return {
    name: placeName(place),
    bars: medians.flatMap(({ label, ms, isMarked }) =>
      ms === null ? [] : [{ label, value: ms, text: msOf(ms), isMarked }],
    ),
  };
}
