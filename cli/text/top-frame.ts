import { styleText } from "node:util";
import type { PurgeRecord } from "../../sdk/index.ts";
import type { SiteStats, SpanStats, TopUrlStats } from "../../wire/stats.ts";
import { ms, percent, size, whole } from "../../wire/text/numbers.ts";
import { printable } from "../../wire/text/printable.ts";
import { nothingReported, ownAnswers, weightText } from "../../wire/text/stats-text.ts";
import { lastMinuteOf, type Rates, type SinceLook } from "./top-rates.ts";

/** What `tidemark top` shows at one moment. */
export interface TopView {
  readonly endpoint: string;
  readonly stats: SiteStats;
  /** The counts since the previous look; `null` for the first one, and if they are not known by the second. */
  readonly now: SinceLook | null;
  /** The newest first. */
  readonly purges: readonly PurgeRecord[];
  /** Why the edge did not answer this time; the rest is then from an earlier moment. `null` if it answered. */
  readonly trouble: string | null;
}

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

const BARS = [..."▁▂▃▄▅▆▇█"];

/** The lines of a screen, at most as many as it has rows, and none wider than it. Of each list the first rows stay. */
export function topFrame(view: TopView, { columns, rows }: FrameSize): string[] {
  const { endpoint, stats, now, purges, trouble } = view;
  const lines: Line[] = [
    { text: `Tidemark  ${printable(endpoint)}  ${timeOf(stats.to)}`, style: "bold" },
    ...(trouble === null ? [] : [{ text: printable(trouble), style: "red" as const }]),
    ...["", ...totals(stats, now)].map(plain),
    ...list((stats.machine?.inWords ?? []).map((line) => row("", printable(line)))),
    ...history(stats, columns).map(plain),
    ...urls("Slowest at the origin", stats.top?.slowest, eachText),
    ...urls("Not found in the cache", stats.top?.missed, (top) => weightText(top, whole)),
    ...purgeLines(purges),
  ];
  const kept = new Set(lines.toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0)).slice(0, rows));
  return lines
    .filter((line) => kept.has(line))
    .map(({ text, style }) => {
      const cut = text.length > columns ? `${text.slice(0, Math.max(0, columns - 1))}…` : text;
      return style === undefined ? cut : styleText(style, cut, { stream: process.stdout });
    });
}

interface Line {
  readonly text: string;
  readonly style?: "bold" | "red" | "dim";
  /** From 1, in a list. */
  readonly place?: number;
}

const plain = (text: string): Line => ({ text });
const list = (rows: readonly string[]): Line[] => rows.map((text, index) => ({ text, place: index + 1 }));

function totals(stats: SiteStats, now: SinceLook | null): string[] {
  const { requests, fromCache, origin, answers, bytes, waits, isolates, machine } = stats;
  if (requests === 0) return [`Last 15 minutes: ${nothingReported(stats)}`];
  const shares = Object.entries(answers)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${printable(name)} ${percent(count / requests)}`);
  const own = ownAnswers(stats);
  if (own !== null) shares.push(`answered by the edge ${own}`);
  const minute = lastMinuteOf(stats);
  const waited = waits
    ? `; waited ${ms(waits.p50Ms)} in the median, 95 %: ${ms(waits.p95Ms)}, 99 %: ${ms(waits.p99Ms)}`
    : "";
  return [
    ...(now === null ? [] : [row(`last ${rate(now.seconds)} s`, ratesText(now))]),
    ...(minute === null ? [] : [row(timeOf(minute.at), ratesText(minute))]),
    row("15 min", `${whole(requests)} requests, ${percent(fromCache / requests)} from cache${waited}`),
    row(
      "",
      `origin asked ${whole(origin.asked)}, failed ${whole(origin.failed)}${queued(stats)}; ${size(bytes.fromCache)} saved, ${size(bytes.fromOrigin)} sent by it`,
    ),
    row("", shares.join("  ")),
    ...(machine
      ? []
      : [
          row(
            "",
            `${whole(isolates.alive)} isolates, memory ${size(isolates.memoryBytes)} of ${size(isolates.memoryMaxBytes)}`,
          ),
        ]),
  ];
}

/** If `origin.concurrency` made requests wait. */
function queued({ origin: { awaited, turnedAway } }: SiteStats): string {
  return awaited + turnedAway === 0 ? "" : `, ${whole(awaited)} waited for a turn, ${whole(turnedAway)} got none`;
}

function row(name: string, text: string): string {
  return `${name.padEnd(10)} ${text}`;
}

function ratesText({ requestsPerSecond, fromCacheShare, originPerSecond, errorsPerSecond }: Rates): string {
  const errors = errorsPerSecond > 0 ? `, ${rate(errorsPerSecond)} errors` : "";
  return `${rate(requestsPerSecond)} requests/s, ${percent(fromCacheShare)} from cache, ${rate(originPerSecond)} to the origin${errors}`;
}

/** A bar for each minute, the newest at the right. */
function history({ spans, spanMs, to }: SiteStats, columns: number): string[] {
  if (spans.length === 0) return [];
  const count = Math.min(15, Math.max(1, columns - 12));
  const end = Math.floor(Date.parse(to) / spanMs) * spanMs;
  const at = new Map<number, SpanStats>(spans.map((span) => [Date.parse(span.at), span]));
  const minutes = Array.from(
    { length: count },
    (_, index) => at.get(end - (count - 1 - index) * spanMs)?.requests ?? 0,
  );
  const most = Math.max(...minutes, 1);
  const bars = minutes.map((requests) => (requests === 0 ? " " : BARS[Math.ceil((requests / most) * BARS.length) - 1]));
  return [`${"a minute".padEnd(10)} ${bars.join("")}`];
}

function urls(title: string, top: readonly TopUrlStats[] | undefined, weight: (top: TopUrlStats) => string): Line[] {
  if (!top || top.length === 0) return [];
  const rows = top.slice(0, 5).map((each) => `  ${weight(each).padStart(14)}  ${printable(each.url)}`);
  return [plain(""), { text: title, style: "bold" }, ...list(rows)];
}

/** The mean of the times that were counted, without what may come from other URLs. */
function eachText({ weight, error, times }: TopUrlStats): string {
  return `${ms((weight - error) / Math.max(times, 1))} each`;
}

function purgeLines(purges: readonly PurgeRecord[]): Line[] {
  const rows = purges.map(({ seq, at, items, itemCount, by, settled }) => {
    const more = itemCount > 1 ? ` and ${whole(itemCount - 1)} more` : "";
    const text = `  ${timeOf(at)}  ${seq}  ${items[0] ?? "everything"}${more}, by ${by}${settled ? "" : ", not settled yet"}`;
    return printable(text);
  });
  return [plain(""), { text: "Purges", style: "bold" }, ...list(rows.length > 0 ? rows : ["  none yet"])];
}

function rate(perSecond: number): string {
  return perSecond >= 100 ? whole(Math.round(perSecond)) : String(Number(perSecond.toPrecision(2)));
}

/** The time of day on this machine. */
function timeOf(at: string): string {
  return new Date(at).toTimeString().slice(0, 8);
}
