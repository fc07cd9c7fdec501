import { open, writeFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { readLifetime } from "../../traffic/counting/lifetimes.ts";
import type { ReadCounts } from "../../traffic/logs/log-file.ts";
import { analyseLogs } from "../../traffic/report/analyse-logs.ts";
import { reportPage } from "../../traffic/report/report-page.ts";
import { reportText } from "../../traffic/report/report-text.ts";
import { EXIT } from "../exit-code.ts";
import { valueNotFlag } from "../flags.ts";
import { interruption } from "../interruption.ts";
import { printError } from "../print-error.ts";
import { ProgressLine, readingText } from "../progress-line.ts";

interface ReportFlags {
  readonly lifetime?: number;
  readonly html?: string;
  readonly json?: true;
}

const AFTER_HELP = `
Logs of nginx and Apache (common, combined, JSON), Varnish (varnishncsa), Cloudflare (Logpush), CloudFront and Caddy,
also compressed with gzip or zstd, in any order. Nothing is sent anywhere. Ctrl-C reports on what was read until then.

Exit codes: 0 done, 1 no line could be read, 2 wrong usage, or no such file, 130 interrupted.

  tidemark report /var/log/nginx/access.log*
  tidemark report access.log --lifetime 10m --html report.html
  zcat access.log.gz | tidemark report - --json | jq .prediction`;

/** `tidemark report`: what a cache would do for a site, by its access logs. */
export function reportCommand(): Command {
  return new Command("report")
    .description("Tell from access logs what a cache would do for a site.")
    .argument("<log...>", "access logs, or - for standard input")
    .option("--lifetime <duration>", "how long pages are stored, like 10m or 1d (default: 1h)", lifetime)
    .option("--html <file>", "write the report as one HTML file, too", valueNotFlag)
    .option("--json", "print the report as one JSON object")
    .addHelpText("after", AFTER_HELP)
    .action(async (files: string[], flags: ReportFlags) => {
      process.exitCode = await run(files, flags);
    });
}

async function run(files: readonly string[], { lifetime: lifetimeSeconds, html, json }: ReportFlags): Promise<number> {
  const ending = new AbortController();
  interruption().then(() => ending.abort());
  const line = new ProgressLine();
  const startedAt = performance.now();
  const progress = (counts: ReadCounts, allBytes: number) =>
    line.show(() => readingText(counts, allBytes, performance.now() - startedAt));
  try {
    // A file that cannot be written is told before the work, not after it.
    if (html !== undefined) await (await open(html, "a")).close();
    const report = await analyseLogs({ files, lifetimeSeconds, signal: ending.signal, progress });
    line.clear();
    if (html !== undefined) await writeFile(html, reportPage(report));
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : reportText(report));
    if (report.logs.interrupted) return EXIT.interrupted;
    if (report.requests.all > 0) return EXIT.done;
    printError("no line of these logs is in a format that this command knows. --help lists them.");
    return EXIT.refused;
  } catch (error) {
    line.clear();
    if (!isForTheCaller(error)) throw error;
    printError(error.message);
    return EXIT.usage;
  }
}

/** Whether the message of an error says all that its reader needs. */
function isForTheCaller(error: unknown): error is Error {
  return error instanceof Error && (error.name === "LogFileError" || "syscall" in error);
}

function lifetime(text: string): number {
  const seconds = readLifetime(text);
  if (seconds === null) throw new InvalidArgumentError("It must be like 90s, 10m, 1h or 7d, up to 365d.");
  return seconds;
}
