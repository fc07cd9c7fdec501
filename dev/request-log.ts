import { styleText } from "node:util";
import { ENTRY_MARK, type LogEntry, type PurgeEntry, type RequestEntry } from "./request-log-entry.ts";

/** How many names of a purge a line has room for. */
const MOST_NAMES = 3;

/** How wide a path is at least: longer ones push the rest to the right. */
const PATH_WIDTH = 34;

/** Where an entry comes from; `null` where there is one edge only. */
export type EntryPlace = string | null;

/** The entry in a line that the dev command's worker wrote; `null` for any other line. */
export function readEntry(line: string): LogEntry | null {
  return line.startsWith(ENTRY_MARK) ? (JSON.parse(line.slice(ENTRY_MARK.length)) as LogEntry) : null;
}

/** One line of JSON. */
export function jsonLine(entry: LogEntry, region: EntryPlace, at: Date): string {
  return JSON.stringify({ time: at.toISOString(), ...(region === null ? {} : { region }), ...entry });
}

/** One line for a person, in colours if the stream shows them. */
export function textLine(entry: LogEntry, region: EntryPlace, at: Date, stream: NodeJS.WriteStream): string {
  const style: Style = (format, text) => styleText(format, text, { stream });
  const place = [style("dim", at.toTimeString().slice(0, 8)), ...(region === null ? [] : [style("bold", region)])];
  return [...place, ...(entry.kind === "purge" ? purgeParts(entry, style) : requestParts(entry, style))].join("  ");
}

type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

function requestParts(entry: RequestEntry, style: Style): string[] {
  const { method, path, status, xCache, detail, ageS, ttlS, stored, ms, originMs } = entry;
  const outcome = (xCache ?? "-").padEnd(7);
  const more = [originMs === null ? "" : `origin ${duration(originMs)}`, detail ?? ""].filter(Boolean).join("  ");
  return [
    method.padEnd(5),
    shown(path).padEnd(PATH_WIDTH),
    status >= 500 ? style("red", String(status)) : String(status),
    style(COLOURS[xCache ?? ""] ?? "red", outcome),
    `age ${seconds(ageS)}`.padEnd(9),
    (stored ? "stored" : `ttl ${seconds(ttlS)}`).padEnd(9),
    duration(ms).padStart(7),
    ...(more === "" ? [] : [style("dim", more)]),
  ];
}

const COLOURS: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  HIT: "green",
  MISS: "yellow",
  EXPIRED: "yellow",
  REVALIDATED: "green",
  UPDATING: "yellow",
  STALE: "red",
  BYPASS: "cyan",
};

function purgeParts({ status, purged, seq, settlesInMs, ms }: PurgeEntry, style: Style): string[] {
  const parts = [style("magenta", "PURGE")];
  if (seq === null) return [...parts, style("red", `refused: ${status}`), duration(ms)];
  const more = purged.length - MOST_NAMES;
  const names = purged.slice(0, MOST_NAMES).map(shown).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return [...parts, names.padEnd(PATH_WIDTH), `purge ${seq}`, `settles in ${settlesInMs} ms`, duration(ms)];
}

/** The runtime's clock moves with its input and output alone, in whole milliseconds: an answer from memory takes none. */
function duration(ms: number): string {
  return ms < 1 ? "<1 ms" : `${ms} ms`;
}

function seconds(count: number | null): string {
  return count === null ? "-" : `${count}s`;
}

/** What others wrote, without what a terminal would obey. */
function shown(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, "?");
}
