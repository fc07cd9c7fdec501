import { OwnerError } from "../../../package/owner-error.ts";
import type { ReadCounts } from "../../../tools/logs/log-file.ts";
import { IMPOSSIBLE_TIMES } from "../../../wire/text/impossible-times.ts";
import { whole } from "../../../wire/text/numbers.ts";
import { EXIT } from "../../exit-code.ts";
import { interruption } from "../../interruption.ts";
import { printError, printFailure } from "../../text/print-error.ts";
import { ProgressLine } from "../../text/progress-line.ts";

/** The options for reading logs: until the signal, with reports of progress. */
export interface LogReading {
  readonly signal: AbortSignal;
  readonly progress: (counts: ReadCounts, allBytes: number) => void;
}

/**
 * Runs a command that reads logs, with progress on a terminal, until Ctrl-C. Resolves to its exit code. Prints errors
 * whose message says everything that a reader needs.
 */
export async function readingLogs(
  command: (reading: LogReading, clear: () => void) => Promise<number>,
): Promise<number> {
  const ending = new AbortController();
  interruption().then(() => ending.abort());
  const line = new ProgressLine();
  const startedAt = performance.now();
  const progress = (counts: ReadCounts, allBytes: number) =>
    line.show(() => readingText(counts, allBytes, performance.now() - startedAt));
  try {
    return await command({ signal: ending.signal, progress }, () => line.clear());
  } catch (error) {
    line.clear();
    if (!isForTheCaller(error)) throw error;
    printFailure(error);
    return EXIT.usage;
  }
}

/** Says why there is nothing to tell about logs without a visitor's request. */
export function refuseLogs({ lines, broken, misdated }: Pick<ReadCounts, "lines" | "broken" | "misdated">): number {
  if (lines === 0) printError("these logs are empty.");
  else if (misdated > 0) {
    const those = `${whole(misdated)} ${misdated === 1 ? "is" : "are"} ${IMPOSSIBLE_TIMES}`;
    printError(`no line of these logs has a possible time: ${those}.`);
  } else {
    const why =
      broken === lines ? "is in a format that this command knows" : "has an HTTP request, with a method and a path";
    printError(`no line of these logs ${why}. tidemark report --help lists the formats.`);
  }
  return EXIT.refused;
}

function isForTheCaller(error: unknown): error is Error {
  return error instanceof OwnerError || (error instanceof Error && "syscall" in error);
}

/** The progress of reading logs. The size of standard input is not known. */
function readingText({ bytes, lines, broken }: ReadCounts, allBytes: number, ms: number): string {
  const share = allBytes === 0 ? "" : `${Math.floor((100 * bytes) / allBytes)} %, `;
  const odd = broken === 0 ? "" : `, ${whole(broken)} of them broken`;
  return `${share}${whole(lines)} lines${odd}, ${whole((lines / ms) * 1000)} a second`;
}
