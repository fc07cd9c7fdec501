import { Command, InvalidArgumentError } from "commander";
import { readSize } from "../../../server/startup/size.ts";
import { EXIT } from "../../exit-code.ts";
import { listedValues, valueNotFlag } from "../../flags.ts";
import { lacksNode } from "../../lacks-peers.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { readingLogs, refuseLogs } from "./reading-logs.ts";

interface ReplayFlags {
  readonly config?: readonly string[];
  readonly cacheControl?: string;
  readonly memory?: number;
  readonly sample?: number;
  readonly json?: true;
}

const AFTER_HELP = `
The edge itself runs in this process, and gets each request at the time in the log. A simulated origin answers with the
status and size from the log, and with the Cache-Control that --cache-control names. The cache begins empty. Behind its
memory there is room for every page.

Exit codes: 0 done, 1 no request could be read, 2 wrong usage, or a missing file or config, 130 interrupted.

  tidemark replay access.log --config tidemark.config.ts --config new.config.ts
  tidemark replay access.log --cache-control "max-age=600" --memory 128MiB`;

/** `tidemark replay`: replays a log through the edge, under one or several configs. */
export function replayCommand(): Command {
  return new Command("replay")
    .description(DESCRIPTIONS.replay)
    .argument("<log...>", "access logs, or - for standard input")
    .option("--config <file>", "a site's rules; repeat to compare several (default: none)", listedValues)
    .option("--cache-control <value>", "the origin's Cache-Control on every page (default: none)", valueNotFlag)
    .option("--memory <size>", "only a memory cache of this size, like tidemark serve without a disk", size)
    .option(
      "--sample <n>",
      "replay one path in n (default: all paths for logs up to 200 MiB, fewer for larger logs)",
      oneIn,
    )
    .option("--json", "print the result as one JSON object")
    .addHelpText("after", AFTER_HELP)
    .action(async (files: string[], flags: ReplayFlags) => {
      if (lacksNode("replay")) return;
      process.exitCode = await run(files, flags);
    });
}

async function run(
  files: readonly string[],
  { config, cacheControl, memory, sample, json }: ReplayFlags,
): Promise<number> {
  // Loaded here, because an older Node does not have what it imports.
  const { replayLogs } = await import("../../../tools/replay/replay-logs.ts");
  const { replayText } = await import("../../../tools/replay/replay-text.ts");
  return readingLogs(async (reading, clear) => {
    const report = await replayLogs({
      files,
      configs: config ?? [],
      cacheControl: cacheControl ?? null,
      memoryBytes: memory ?? null,
      oneIn: sample ?? null,
      ...reading,
    });
    clear();
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : replayText(report));
    if (report.interrupted) return EXIT.interrupted;
    return report.edges.some(({ requests }) => requests > 0) ? EXIT.done : refuseLogs(report.logs);
  });
}

function oneIn(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 to 999999.");
  return Number(text);
}

function size(text: string): number {
  const bytes = readSize(text);
  if (bytes === null || bytes === 0) throw new InvalidArgumentError("It must be like 512MiB or 10GiB.");
  return bytes;
}
