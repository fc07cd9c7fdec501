import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { combinedLine, generatedRequests } from "../../test/tools/generated-log.ts";
import { residentMemory } from "../large/process-memory.ts";
import { atExit } from "../processes/at-exit.ts";
import { killTree } from "../processes/process-tree.ts";
import { BenchFailure } from "../report/bench-failure.ts";

/** The command after so many lines. */
export interface AfterLines {
  readonly lines: number;
  /** Since the first line. */
  readonly linesPerSecond: number;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** The memory is looked at after 1, 10 and 50 million lines, and at the end. */
const LOOKS = [1_000_000, 10_000_000, 50_000_000];

/** One page for five lines, so that the tables are full early and new pages come until the end. */
const PAGES_PER_LINE = 0.2;
const BATCH = 5_000;

/**
 * Pipes a log of so many lines through `tidemark report -`, and looks at the memory of the command on the way. The log is
 * made as it is read, and nothing of it is stored.
 */
export async function pipeLog(lines: number, seed: number, look: (after: AfterLines) => void): Promise<void> {
  const command = spawn(process.execPath, ["cli/main.ts", "report", "-", "--json"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const forgetExit = atExit(() => killTree(command.pid));
  const exited = once(command, "exit");
  const output = text(command.stdout);
  try {
    const looks = [...LOOKS.filter((each) => each < lines), lines];
    const startedAt = performance.now();
    let written = 0;
    let batch: string[] = [];
    const send = async () => {
      if (!command.stdin.write(batch.join(""), "latin1")) {
        await Promise.race([once(command.stdin, "drain"), exited.then(reject)]);
      }
      written += batch.length;
      batch = [];
      if (written < looks[0]!) return;
      const { bytes: residentBytes, peakBytes } = residentMemory(command.pid!);
      const linesPerSecond = Math.round(written / ((performance.now() - startedAt) / 1000));
      look({ lines: looks.shift()!, linesPerSecond, residentBytes, peakBytes });
    };
    const traffic = { seed, requests: lines, days: Math.max(1, lines / 1e6), pages: Math.ceil(lines * PAGES_PER_LINE) };
    for (const request of generatedRequests(traffic)) {
      if (batch.push(`${combinedLine(request)}\n`) === BATCH) await send();
      if (looks.length === 0) break;
    }
    if (looks.length > 0) await send();
    command.stdin.end();
    await exited;
    const read = (JSON.parse(await output) as { requests: { all: number } }).requests.all;
    if (read !== written) throw new BenchFailure(`the command read ${read} of ${written} lines.`);
  } finally {
    killTree(command.pid);
    forgetExit();
  }
}

function reject(): never {
  throw new BenchFailure("the command ended before its log.");
}
