import { writeFile } from "node:fs/promises";
import { Command, InvalidArgumentError } from "commander";
import { readLifetime } from "../../../tools/counting/lifetimes.ts";
import { deploySavings } from "../../../tools/deploys/deploy-savings.ts";
import { deployText } from "../../../tools/deploys/deploy-text.ts";
import { analyseLogs } from "../../../tools/report/analyse-logs.ts";
import { reportPage } from "../../../tools/report/report-page.ts";
import { reportText } from "../../../tools/report/report-text.ts";
import { EXIT } from "../../exit-code.ts";
import { fileNamed, wholeNumber } from "../../flags.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { printError } from "../../text/print-error.ts";
import { expectWritable } from "../../writable-file.ts";
import { readingLogs, refuseLogs } from "./reading-logs.ts";

interface ReportFlags {
  readonly lifetime?: number;
  readonly concurrency?: number;
  readonly originMs?: number;
  readonly html?: string;
  readonly json?: true;
  readonly deploy?: true;
}

const AFTER_HELP = `
Logs of nginx and Apache (common, combined, JSON), lighttpd, Varnish (varnishncsa), tidemark serve, HAProxy, Traefik,
Caddy, Nginx Proxy Manager, Cloudflare (Logpush), CloudFront, Fastly (JSON) and AWS load balancers (ALB), also compressed
with gzip or zstd. Name files in any order; lines may be out of order by up to 10 minutes. Nothing is sent anywhere. Ctrl-C
prints a report on the lines read so far.

Exit codes: 0 done, 1 no request could be read, 2 wrong usage, or a missing file, 130 interrupted.

  tidemark report /var/log/nginx/access.log*
  tidemark report access.log --lifetime 10m --html report.html
  tidemark report access.log --concurrency 32
  tidemark report --deploy dist-before dist
  zcat access.log.gz | tidemark report - --json | jq .prediction`;

/** `tidemark report`: reports what a cache would do for a site, from its access logs. */
export function reportCommand(): Command {
  return new Command("report")
    .description(DESCRIPTIONS.report)
    .argument("<log...>", "access logs, or - for standard input; with --deploy, the old and the new folder")
    .option("--lifetime <duration>", "how long pages are stored, like 10m or 1d (default: 1h)", lifetime)
    .option(
      "--concurrency <n>",
      "report what a limit of so many requests at the origin would have done, like 32",
      wholeNumber(1, 10_000),
    )
    .option(
      "--origin-ms <ms>",
      "with --concurrency: how long an answer takes (default: what the log says, else its average, else 200)",
      wholeNumber(0, 600_000),
    )
    .option("--html <file>", "also write the report as one HTML file", pageFile)
    .option("--deploy", "report instead what visitors would download after a deploy, with and without deltas")
    .option("--json", "print the report as one JSON object")
    .addHelpText("after", AFTER_HELP)
    .action(async (files: string[], flags: ReportFlags) => {
      process.exitCode = await run(files, flags);
    });
}

async function run(files: readonly string[], flags: ReportFlags): Promise<number> {
  const { lifetime: lifetimeSeconds, concurrency, originMs, html, json, deploy } = flags;
  if (deploy) return reportDeploy(files, flags);
  if (concurrency === undefined && originMs !== undefined) {
    printError("--origin-ms needs --concurrency: without a limit no request waits for the origin.");
    return EXIT.usage;
  }
  return readingLogs(async (reading, clear) => {
    if (html !== undefined) await expectWritable(html);
    const limit = concurrency === undefined ? undefined : { concurrency, originMs };
    const report = await analyseLogs({ files, lifetimeSeconds, limit, ...reading });
    clear();
    if (html !== undefined) await writeFile(html, reportPage(report));
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : reportText(report));
    if (report.logs.interrupted) return EXIT.interrupted;
    const { all, notHttp } = report.requests;
    return all > notHttp ? EXIT.done : refuseLogs(report.logs);
  });
}

async function reportDeploy(folders: readonly string[], { json, deploy: _, ...others }: ReportFlags): Promise<number> {
  const [before, after, ...more] = folders;
  if (before === undefined || after === undefined || more.length > 0) {
    printError("--deploy compares the old folder with the new one: tidemark report --deploy dist-before dist");
    return EXIT.usage;
  }
  if (Object.keys(others).length > 0) {
    printError("--deploy reads no logs: use it only with --json.");
    return EXIT.usage;
  }
  return readingLogs(async () => {
    const savings = await deploySavings(before, after);
    process.stdout.write(json ? `${JSON.stringify(savings)}\n` : deployText(savings));
    return EXIT.done;
  });
}

const pageFile = fileNamed(
  /\.html?$/i,
  "Its name must end in .html or .htm, because the file is overwritten: --html report.html",
);

function lifetime(text: string): number {
  const seconds = readLifetime(text);
  if (seconds === null) throw new InvalidArgumentError("It must be like 90s, 10m, 1h or 7d, up to 365d.");
  return seconds;
}
