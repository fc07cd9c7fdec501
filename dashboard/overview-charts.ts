import type { SiteCounts, SiteStats } from "../wire/stats.ts";
import { percent, size, whole } from "../wire/text/numbers.ts";
import { type Chart, chart, type Series } from "./charts.ts";
import { time, timeOf } from "./words.ts";

type Value = number | undefined;

/** The counts of a span, or of the whole time. */
type Counts = Pick<SiteCounts, "requests" | "fromCache" | "bytes" | "times">;

interface ChartOverTime {
  readonly title: string;
  readonly kind: "bars" | "lines";
  readonly format: (value: Value) => string;
  readonly top?: number;
  readonly series: readonly (readonly [name: string, color: string, value: (counts: Counts) => Value])[];
}

const number = (value = 0) => whole(value);
const bytes = (value = 0) => size(value);
const ratio = (value: Value) => (value === undefined ? "–" : percent(value));

/** The only series that is left out if nothing was measured, because only `tidemark serve` measures memory times. */
const MEMORY = "memory";

const CHARTS: readonly ChartOverTime[] = [
  {
    title: "Requests",
    kind: "bars",
    format: number,
    series: [
      ["from cache", "c0", ({ fromCache }) => fromCache],
      ["others", "c1", ({ requests, fromCache }) => requests - fromCache],
    ],
  },
  {
    title: "Hit ratio",
    kind: "lines",
    format: ratio,
    top: 1,
    series: [["from cache", "c0", ({ requests, fromCache }) => (requests ? fromCache / requests : undefined)]],
  },
  {
    title: "Time to the head, in the median",
    kind: "lines",
    format: time,
    series: [
      ["origin", "c1", ({ times: { origin } }) => origin?.p50Ms],
      ["origin, 95 %", "c2", ({ times: { origin } }) => origin?.p95Ms],
      ["cache of the PoP", "c0", ({ times: { shared } }) => shared?.p50Ms],
      [MEMORY, "c3", ({ times: { memory } }) => memory?.p50Ms],
    ],
  },
  {
    title: "Bytes",
    kind: "bars",
    format: bytes,
    series: [
      ["from cache", "c0", (counts) => counts.bytes.fromCache],
      ["from the origin", "c1", (counts) => counts.bytes.fromOrigin],
    ],
  },
];

/** The charts of the overview. `point` gets the span under the pointer, or `null`. */
export function overviewCharts(stats: SiteStats, point: (index: number | null) => void): readonly Chart[] {
  const { from, to, spanMs } = stats;
  const begin = Date.parse(from);
  const bySpan = new Map(stats.spans.map((each) => [Math.round((Date.parse(each.at) - begin) / spanMs), each]));
  const spans = Array.from({ length: spanCount(stats) }, (_, index) => bySpan.get(index));
  const ends = [timeOf(begin, spanMs), timeOf(Date.parse(to), spanMs)] as const;
  return CHARTS.map(({ series, ...drawing }) => {
    const drawn = series.map(([name, color, value]): Series => {
      return { name, color, values: spans.map((span) => span && value(span)), total: drawing.format(value(stats)) };
    });
    return chart(
      { ...drawing, ends, series: drawn.filter(({ name, total }) => name !== MEMORY || total !== "–") },
      point,
    );
  });
}

export function spanCount({ from, to, spanMs }: SiteStats): number {
  return Math.max(1, Math.ceil((Date.parse(to) - Date.parse(from)) / spanMs));
}
