import { text } from "node:stream/consumers";
import { type Command, InvalidArgumentError } from "commander";
import { parseRegions, REGION_NAMES } from "../../../local/dev/regions.ts";
import type { CrawlOptions, CrawlProgress } from "../../../tools/crawl/crawl-options.ts";
import { CrawlError } from "../../../tools/requests/crawl-error.ts";
import { whole } from "../../../wire/text/numbers.ts";
import { EXIT } from "../../exit-code.ts";
import { inMs, valueNotFlag, wholeNumber } from "../../flags.ts";
import { interruption } from "../../interruption.ts";
import { printFailure } from "../../text/print-error.ts";
import { ProgressLine } from "../../text/progress-line.ts";

/** The flags of commands that request a site's pages. */
export interface PageFlags {
  readonly edge: string;
  readonly from?: readonly string[];
  readonly host?: string;
  readonly limit: number;
  readonly concurrency: number;
  readonly rate: number;
  readonly timeout: number;
  readonly ignoreRobots?: true;
  readonly json?: true;
}

/** The common argument and flags of `crawl` and `warm`. */
export function addPageFlags(command: Command): Command {
  return command
    .argument("[page...]", "paths, URLs, sitemaps (path, URL or file), or - for a list on standard input")
    .requiredOption("--edge <url>", "the edge, like https://www.example.com", siteUrl)
    .option(
      "--from <regions>",
      `regions that tidemark dev simulates at the edge, like nyc,fra,syd (${REGION_NAMES})`,
      regions,
    )
    .option("--host <name>", "the site's public host, if --edge has another name", hostName)
    .option("--limit <number>", "request at most this many pages", wholeNumber(1, 100_000), 1_000)
    .option("--concurrency <number>", "requests at a time", wholeNumber(1, 64), 4)
    .option("--rate <number>", "requests a second", wholeNumber(1, 1_000), 20)
    .option("--timeout <seconds>", "wait at most this long for each answer", wholeNumber(1, 600), 30)
    .option("--ignore-robots", "ignore robots.txt and its pauses, on a site of your own")
    .option("--json", "print the result as one JSON object");
}

/**
 * Runs a command that requests a site's pages, with progress on a terminal, until Ctrl-C. Resolves to its exit code.
 * Prints errors whose message says everything that a reader needs.
 */
export async function askingPages(
  pages: readonly string[],
  { edge, from, host, limit, concurrency, rate, timeout, ignoreRobots }: PageFlags,
  command: (options: CrawlOptions, clear: () => void) => Promise<number>,
): Promise<number> {
  const ending = new AbortController();
  interruption().then(() => ending.abort());
  const line = new ProgressLine();
  const options: CrawlOptions = {
    edge,
    origin: null,
    from: from ?? null,
    host: host ?? null,
    places: pages,
    limit,
    concurrency,
    perSecond: rate,
    timeoutMs: inMs(timeout),
    ignoresRobots: ignoreRobots ?? false,
    signal: ending.signal,
    progress: (progress) => line.show(() => progressText(progress)),
    standardInput: () => listOnStandardInput(ending.signal),
  };
  try {
    return await command(options, () => line.clear());
  } catch (error) {
    line.clear();
    if (!isForTheCaller(error)) throw error;
    if (ending.signal.aborted) return EXIT.interrupted;
    printFailure(error);
    return error instanceof CrawlError ? EXIT_OF_KIND[error.kind] : EXIT.usage;
  }
}

/** Reads to the end. A list that has not ended by Ctrl-C counts as empty. */
async function listOnStandardInput(signal: AbortSignal): Promise<string> {
  const end = () => process.stdin.destroy();
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    return await text(process.stdin);
  } catch (error) {
    if (signal.aborted) return "";
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** The exit code for the results. */
export function walkExit(
  {
    interrupted,
    failed,
    endedBecause,
  }: { interrupted: boolean; failed: { count: number }; endedBecause: string | null },
  isSilent: boolean,
): number {
  if (interrupted) return EXIT.interrupted;
  if (isSilent) return EXIT.unreachable;
  return failed.count > 0 || endedBecause !== null ? EXIT.refused : EXIT.done;
}

const EXIT_OF_KIND = { usage: EXIT.usage, refused: EXIT.refused, unreachable: EXIT.unreachable } as const;

function isForTheCaller(error: unknown): error is Error {
  return error instanceof CrawlError || (error instanceof Error && "syscall" in error);
}

function progressText({ round, done, of, failed }: CrawlProgress): string {
  if (round === null) return "looking for pages";
  const failures = failed === 0 ? "" : `, ${whole(failed)} failed`;
  return `${round}: ${whole(done)} of ${whole(of)} pages${failures}`;
}

/** Reads the address of a site: an origin without a path. */
export function siteUrl(given: string): string {
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search !== "" || url.username !== "") {
    throw new InvalidArgumentError(
      "It must be like https://www.example.com, without a path; name pages after the flags.",
    );
  }
  return url.origin;
}

function regions(names: string): readonly string[] {
  try {
    return parseRegions(valueNotFlag(names));
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function hostName(given: string): string {
  const url = URL.parse(`http://${given}`);
  if (url?.pathname !== "/" || url.search !== "" || url.host !== given.toLowerCase() || given.startsWith("-")) {
    throw new InvalidArgumentError("It must be like www.example.com, without scheme and path.");
  }
  return url.host;
}
