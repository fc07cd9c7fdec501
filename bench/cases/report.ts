import { Command } from "commander";
import { compareWithNginx } from "../logs/nginx-words.ts";
import { type AfterLines, pipeLog } from "../logs/piped-log.ts";
import { readingSpeed } from "../logs/reading-speed.ts";
import { nginxVersion } from "../nginx/nginx-cache.ts";
import { positive } from "../options.ts";
import { BenchFailure } from "../report/bench-failure.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

/** Lines a second and core that the report promises. */
const LEAST_COUNTING = 500_000;
const LEAST_WHOLE = 150_000;
/** The most by which the memory of the command may grow after the first tenth of a piped log. */
const MOST_GROWTH = 1.2;
/** The prediction may be so far from nginx's own words, in points. */
const MAX_APART = 3;

interface ReportOptions {
  readonly lines: number;
  readonly seed: number;
  readonly piped?: number;
  readonly json?: string;
}

export const report = new Command("report")
  .description("tidemark report: lines a second, memory, and its prediction beside nginx's own words.")
  .option("--lines <n>", "how many lines the log has", positive, 2_000_000)
  .option("--seed <n>", "the seed of the traffic", positive, 1)
  .option("--piped <n>", "instead: pipe a log of so many lines through the command, and look at its memory", positive)
  .option("--json <file>", "where the results go (default: bench/results/report-<date>.json)")
  .action(measureReport);

async function measureReport({ lines, seed, piped, json }: ReportOptions): Promise<void> {
  if (piped !== undefined) return measurePiped(piped, seed, json);
  const machine = thisMachine();
  const speed = await readingSpeed(lines, seed);
  const written = (count: number) => count.toLocaleString("en");
  console.log(
    `${written(speed.lines)} lines of nginx's combined format, seed ${seed}; Node ${machine.node}, ${machine.cpu}\n`,
  );
  printTable(
    ["", "lines a second and core"],
    [
      ["counting alone", written(speed.countingAlone)],
      ["the whole report", written(speed.wholeReport)],
    ],
  );
  console.log(`\nmemory: ${speed.quarterMegabytes} MB in the first quarter, ${speed.mostMegabytes} MB at most`);
  const version = nginxVersion();
  const words = version === null ? null : await compareWithNginx(seed);
  if (words === null) console.log("SKIPPED: nginx is not installed, so its own words are not compared.");
  else {
    const share = (ratio: number) => `${(ratio * 100).toFixed(2)} %`;
    console.log(
      `\nnginx ${version} answered ${share(words.nginx)} of ${written(words.requests)} requests from its cache;`,
    );
    console.log(`the report on its log predicts ${share(words.predicted)}`);
  }
  writeResults("report", { machine, settings: { lines, seed }, speed, nginx: words }, json);
  if (words !== null && Math.abs(words.nginx - words.predicted) * 100 > MAX_APART) {
    throw new BenchFailure(`the prediction is more than ${MAX_APART} points from nginx's own words.`);
  }
  if (speed.countingAlone < LEAST_COUNTING || speed.wholeReport < LEAST_WHOLE) {
    throw new BenchFailure(`fewer than ${written(LEAST_COUNTING)} or ${written(LEAST_WHOLE)} lines a second.`);
  }
}

/** The memory of `tidemark report` while a long log goes through it. */
async function measurePiped(lines: number, seed: number, json: string | undefined): Promise<void> {
  const machine = thisMachine();
  const rows: AfterLines[] = [];
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  await pipeLog(lines, seed, (after) => {
    rows.push(after);
    const { residentBytes, peakBytes, linesPerSecond } = after;
    const memory = `${megabytes(residentBytes)} resident, ${megabytes(peakBytes)} at most`;
    console.log(
      `${after.lines.toLocaleString("en")} lines: ${memory}; ${linesPerSecond.toLocaleString("en")} a second`,
    );
  });
  writeResults("report", { machine, settings: { piped: lines, seed }, rows }, json);
  const early = rows.find((row) => row.lines >= lines / 10)!;
  if (rows.at(-1)!.peakBytes > early.peakBytes * MOST_GROWTH) {
    throw new BenchFailure(
      `the memory grew by more than ${Math.round(MOST_GROWTH * 100 - 100)} % after a tenth of the log.`,
    );
  }
}
