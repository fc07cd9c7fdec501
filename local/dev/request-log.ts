import { styleText } from "node:util";
import { printable } from "../../wire/text/printable.ts";
import {
  ENTRY_PREFIX,
  type LogEntry,
  type PurgeEntry,
  type RequestEntry,
  type SettledEntry,
  type WorkerEntry,
} from "./request-log-entry.ts";

/** The most items of a purge that a line names. */
const MAX_NAMES = 3;

/** The least width of the path. Longer paths push the rest to the right. */
const MIN_PATH_WIDTH = 34;

/** The entry in a line of the dev command's worker; `null` for any other line. */
export function readEntry(line: string): WorkerEntry | null {
  return line.startsWith(ENTRY_PREFIX) ? (JSON.parse(line.slice(ENTRY_PREFIX.length)) as WorkerEntry) : null;
}

/** An entry as one line of JSON. `region`: `null` if there is only one edge. */
export function jsonLine(entry: LogEntry, region: string | null, at: Date): string {
  return JSON.stringify({ time: at.toISOString(), ...(region === null ? {} : { region }), ...entry });
}

/** An entry as one line for a person, in colour if the stream shows colours. */
export function textLine(entry: LogEntry, region: string | null, at: Date, stream: NodeJS.WriteStream): string {
  const style: Style = (format, text) => styleText(format, text, { stream });
  const place = [style("dim", at.toTimeString().slice(0, 8)), ...(region === null ? [] : [style("bold", region)])];
  return [...place, ...partsOf(entry, style)].join("  ");
}

type Style = (format: Parameters<typeof styleText>[0], text: string) => string;

function partsOf(entry: LogEntry, style: Style): string[] {
  switch (entry.kind) {
    case "request":
      return requestParts(entry, style);
    case "purge":
      return purgeParts(entry, style);
    case "settled":
      return settledParts(entry, style);
  }
}

function requestParts(entry: RequestEntry, style: Style): string[] {
  const { method, path, status, xCache, detail, ageS, ttlS, stored, collapsed, ms, originMs } = entry;
  const outcome = (xCache ?? "-").padEnd(7);
  const waited = originMs === null ? "" : `origin ${duration(originMs)}`;
  const more = [waited, collapsed ? "collapsed" : "", detail ?? ""].filter(Boolean).join("  ");
  return [
    method.padEnd(5),
    printable(path).padEnd(MIN_PATH_WIDTH),
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

function purgeParts({ status, purged, dryRun, seq, settlesInMs, ms }: PurgeEntry, style: Style): string[] {
  const parts = [style("magenta", "PURGE")];
  if (purged.length === 0) return [...parts, style("red", `refused: ${status}`), duration(ms)];
  const more = purged.length - MAX_NAMES;
  const names = purged.slice(0, MAX_NAMES).map(printable).join(", ") + (more > 0 ? ` and ${more} more` : "");
  const receipt = seq === null ? [] : [`purge ${seq}`, `settles in ${settlesInMs} ms`];
  if (dryRun) receipt.push("dry run");
  return [...parts, names.padEnd(MIN_PATH_WIDTH), ...receipt, duration(ms)];
}

function settledParts({ seq, afterMs, by }: SettledEntry, style: Style): string[] {
  const why = by === "confirmations" ? "all isolates have confirmed it" : "the leases have run out";
  return [style("magenta", "PURGE"), `purge ${seq} has settled after ${afterMs} ms: ${why}`];
}

/** The runtime's clock moves only with I/O, in whole milliseconds, so an answer from memory takes 0. */
function duration(ms: number): string {
  return ms < 1 ? "<1 ms" : `${ms} ms`;
}

function seconds(count: number | null): string {
  return count === null ? "-" : `${count}s`;
}
