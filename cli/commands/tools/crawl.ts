import { writeFile } from "node:fs/promises";
import { Command } from "commander";
import { missingPeersMessage } from "../../../package/optional-peers.ts";
import { pngOf } from "../../../tools/charts/png.ts";
import { crawl } from "../../../tools/crawl/crawl.ts";
import { crawlChart } from "../../../tools/crawl/crawl-chart.ts";
import { CrawlRecord } from "../../../tools/crawl/crawl-record.ts";
import { crawlText } from "../../../tools/crawl/crawl-text.ts";
import { percentOf } from "../../../tools/words/words.ts";
import { EXIT } from "../../exit-code.ts";
import { fileNamed, valueNotFlag, wholeNumber } from "../../flags.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { printError } from "../../text/print-error.ts";
import { expectWritable } from "../../writable-file.ts";
import { addPageFlags, askingPages, type PageFlags, siteUrl, walkExit } from "./asking-pages.ts";

interface CrawlFlags extends PageFlags {
  readonly origin?: string;
  readonly chart?: string;
  readonly minHitRatio?: number;
  readonly resume?: string;
}

const AFTER_HELP = `
Without pages it requests those in the site's sitemaps: the ones that robots.txt names, or /sitemap.xml. It requests each
page twice, so that the second pass shows what the first has stored; with --origin it requests each once more, without the
edge. It works with any cache that sends X-Cache, Cache-Status or a similar field, and adds nothing to a URL. Ctrl-C prints
a report on the requests so far; with --resume FILE the same command continues from there.

Exit codes: 0 every page was answered, 1 some were not, or the hit ratio is too low, 2 wrong usage, 3 the edge does not
answer, 130 interrupted.

  tidemark crawl --edge https://www.example.com
  tidemark crawl --edge https://www.example.com --origin https://origin.example.com / /blog/ --chart crawl.svg
  tidemark crawl --edge http://localhost:8787 --from nyc,fra,syd sitemap.xml`;

/** `tidemark crawl`: hit ratio and latency of a site's pages, edge against origin. */
export function crawlCommand(): Command {
  return addPageFlags(new Command("crawl"))
    .description(DESCRIPTIONS.crawl)
    .option("--origin <url>", "the site behind the edge, to compare with", siteUrl)
    .option("--chart <file>", "also write a chart, as .svg or .png", chartFile)
    .option("--resume <file>", "keep answers in this file, to continue after an interruption", valueNotFlag)
    .option("--min-hit-ratio <percent>", "exit with 1 if the second pass has fewer hits than this", wholeNumber(0, 100))
    .addHelpText("after", AFTER_HELP)
    .action(async (pages: string[], flags: CrawlFlags) => {
      process.exitCode = await run(pages, flags);
    });
}

async function run(pages: readonly string[], flags: CrawlFlags): Promise<number> {
  const { chart, minHitRatio, json, resume } = flags;
  const isPng = chart?.toLowerCase().endsWith(".png") ?? false;
  const missing = isPng ? missingPeersMessage("A chart as .png", ["sharp"]) : null;
  if (missing !== null) {
    process.stderr.write(`${missing}\nA chart as .svg needs nothing.\n`);
    return EXIT.usage;
  }
  return askingPages(pages, flags, async (options, clear) => {
    if (chart !== undefined) await expectWritable(chart);
    const asked = { ...options, origin: flags.origin ?? null };
    const record = resume === undefined ? null : new CrawlRecord(resume, asked);
    const { report, isSilent } = await crawl({ ...asked, ...(record && { record }) });
    clear();
    if (!report.interrupted && report.endedBecause === null && !isSilent) record?.end();
    if (chart !== undefined) {
      const svg = crawlChart(report);
      await writeFile(chart, isPng ? await pngOf(svg) : svg);
    }
    process.stdout.write(json ? `${JSON.stringify(report)}\n` : crawlText(report, record !== null));
    const exit = walkExit(report, isSilent);
    const { hitRatio } = report.all.second;
    if (exit !== EXIT.done || minHitRatio === undefined || (hitRatio !== null && hitRatio * 100 >= minHitRatio)) {
      return exit;
    }
    const those = hitRatio === null ? "the hit ratio is unknown" : `${percentOf(hitRatio)} are hits`;
    printError(`${those} in the second pass, where --min-hit-ratio wants ${minHitRatio} %.`);
    return EXIT.refused;
  });
}

const chartFile = fileNamed(/\.(svg|png)$/i, "Its name must end in .svg or .png.");
