import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { combinedLine, generatedRequests } from "../../test/tools/generated-log.ts";
import { readLogs } from "../../tools/logs/read-logs.ts";
import { analyseLogs } from "../../tools/report/analyse-logs.ts";

/** Each line is far more than a page of its own now and then: the tables are full, as with a hundred million lines. */
const PAGES_PER_LINE = 0.2;
const BATCH = 10_000;

/** How fast a log was read, by the time of the processor: lines a second and core. */
export interface ReadingSpeed {
  readonly lines: number;
  readonly countingAlone: number;
  readonly wholeReport: number;
  /** The memory of the process after a quarter of the log, and at most, in MB. */
  readonly quarterMegabytes: number;
  readonly mostMegabytes: number;
}

/** Writes a log of so many lines, and reads it: once only to count, once for the whole report. */
export async function readingSpeed(lines: number, seed: number): Promise<ReadingSpeed> {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-log-"));
  try {
    const file = join(folder, "access.log");
    await writeLog(file, lines, seed);
    let counted = 0;
    const countingAlone = await perSecond(async () => {
      await readLogs({ files: [file], take: () => counted++ });
      return counted;
    });
    let quarterMegabytes = 0;
    let mostMegabytes = 0;
    const wholeReport = await perSecond(async () => {
      const { requests } = await analyseLogs({
        files: [file],
        progress: (read) => {
          const megabytes = Math.round(process.memoryUsage.rss() / 1e6);
          if (read.lines <= lines / 4) quarterMegabytes = Math.max(quarterMegabytes, megabytes);
          mostMegabytes = Math.max(mostMegabytes, megabytes);
        },
      });
      return requests.all;
    });
    return { lines: counted, countingAlone, wholeReport, quarterMegabytes, mostMegabytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** How many times a second of the processor's time some work is done; the work returns its number. */
async function perSecond(work: () => Promise<number>): Promise<number> {
  const before = process.cpuUsage();
  const times = await work();
  const { user, system } = process.cpuUsage(before);
  return Math.round(times / ((user + system) / 1e6));
}

async function writeLog(file: string, lines: number, seed: number): Promise<void> {
  const out = createWriteStream(file, { encoding: "latin1" });
  let batch: string[] = [];
  const pages = Math.min(2_000_000, Math.ceil(lines * PAGES_PER_LINE));
  for (const request of generatedRequests({ seed, requests: lines, days: Math.max(1, lines / 1e6), pages })) {
    batch.push(`${combinedLine(request)}\n`);
    if (batch.length < BATCH) continue;
    if (!out.write(batch.join(""))) await once(out, "drain");
    batch = [];
  }
  out.end(batch.join(""));
  await once(out, "finish");
}
