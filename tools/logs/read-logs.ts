import { realpath, stat } from "node:fs/promises";
import { bytesOf, LogFile, noCounts, type ReadCounts, STANDARD_INPUT } from "./log-file.ts";
import type { LoggedRequest } from "./logged-request.ts";
import { TimeOrder } from "./time-order.ts";

export interface ReadOptions {
  /** Paths of logs, `-` for standard input. */
  readonly files: readonly string[];
  /**
   * Gets each request in order of time, except those that are too late: see `TimeOrder`. It must copy requests that it
   * keeps.
   */
  readonly take: (request: LoggedRequest) => void;
  /** Asynchronous work, awaited between pieces of a file and at the end. Default: none. */
  readonly between?: () => Promise<void>;
  /** Stops reading after the current piece. */
  readonly signal?: AbortSignal;
  /** Epoch milliseconds, against which the times of lines are judged. Default: the system's clock. */
  readonly now?: () => number;
  readonly progress?: (counts: ReadCounts, allBytes: number) => void;
}

/** The time of the first line of the file. */
interface Waiting {
  readonly path: string;
  readonly firstAt: number;
}

/**
 * Reads logs in the order of time. Rotated files may be named in any order: each is opened when its first line is due,
 * and files that overlap, like those of several servers, are merged. Lines that are out of order within a file are put
 * in order. Memory holds only a piece of each open file, and the window for ordering.
 */
export async function readLogs(options: ReadOptions): Promise<ReadCounts> {
  const { take, between, signal, now = Date.now, progress } = options;
  const files = await distinct(options.files);
  const counts = noCounts();
  const order = new TimeOrder(take);
  const allBytes = await bytesOf(files);
  const waiting = await inOrder(files, now);
  const open: LogFile[] = [];
  const opened = new Set<LogFile>();
  const pause = async () => {
    counts.outOfOrder = order.outOfOrder;
    counts.late = order.late;
    progress?.(counts, allBytes);
    await between?.();
  };
  const openNext = async () => {
    const { path } = waiting.shift()!;
    const file = new LogFile(path, counts, now, path === STANDARD_INPUT ? process.stdin : undefined);
    opened.add(file);
    if (await advance(file, pause)) open.push(file);
  };
  // Standard input may be silent for a long time.
  const end = () => {
    for (const file of opened) file.close();
  };
  signal?.addEventListener("abort", end);
  try {
    while (signal?.aborted !== true && (open.length > 0 || waiting.length > 0)) {
      if (open.length === 0) await openNext();
      const earliest = earliestOf(open);
      if (earliest === undefined) continue;
      if (waiting.length > 0 && waiting[0]!.firstAt <= earliest.request.at) {
        await openNext();
        continue;
      }
      const until = Math.min(waiting[0]?.firstAt ?? Infinity, nextAfter(open, earliest));
      let hasMore = true;
      // The file that is due is read until another one is due.
      do {
        order.add(earliest.request);
        hasMore = earliest.next();
      } while (hasMore && earliest.request.at <= until);
      if (hasMore || (await advance(earliest, pause))) continue;
      open.splice(open.indexOf(earliest), 1);
      opened.delete(earliest);
    }
  } finally {
    signal?.removeEventListener("abort", end);
    end();
  }
  order.end();
  await pause();
  return counts;
}

/** Reads the next request of a file, from further pieces if necessary. Resolves to false at its end. */
async function advance(file: LogFile, pause: () => Promise<void>): Promise<boolean> {
  do {
    if (file.next()) return true;
    await pause();
  } while (await file.fill());
  return file.next();
}

function earliestOf(open: readonly LogFile[]): LogFile | undefined {
  let earliest = open[0];
  for (const file of open) if (file.request.at < earliest!.request.at) earliest = file;
  return earliest;
}

/** The time of the next request of the other files. */
function nextAfter(open: readonly LogFile[], besides: LogFile): number {
  let at = Infinity;
  for (const file of open) if (file !== besides) at = Math.min(at, file.request.at);
  return at;
}

/** Each file once: patterns like `*.log` also name links to it. A pipe of a shell has no real path. */
async function distinct(files: readonly string[]): Promise<readonly string[]> {
  const byPlace = new Map<string, string>();
  for (const file of files) {
    const place = file === STANDARD_INPUT ? file : await realpath(file).catch(() => file);
    if (!byPlace.has(place)) byPlace.set(place, file);
  }
  return [...byPlace.values()];
}

async function inOrder(files: readonly string[], now: () => number): Promise<Waiting[]> {
  // A single file, or standard input, is read as it comes.
  if (files.length === 1) return [{ path: files[0]!, firstAt: -Infinity }];
  const waiting: Waiting[] = [];
  for (const path of files) waiting.push({ path, firstAt: await firstTime(path, now) });
  return waiting.sort((a, b) => a.firstAt - b.firstAt);
}

/** The time of the first readable line; minus infinity if there is none, and for what can be read only once. */
async function firstTime(path: string, now: () => number): Promise<number> {
  if (path === STANDARD_INPUT || !(await stat(path)).isFile()) return -Infinity;
  const file = new LogFile(path, noCounts(), now);
  try {
    const found = await advance(file, async () => undefined);
    return found ? file.request.at : -Infinity;
  } finally {
    file.close();
  }
}
