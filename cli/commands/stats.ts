import { Command, InvalidArgumentError } from "commander";
import type { SiteStats } from "../../wire/stats.ts";
import { statsLines } from "../../wire/stats-text.ts";
import { verdictsOf, verdictText } from "../../wire/verdicts/verdicts.ts";
import { EXIT } from "../exit-code.ts";
import { refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { printError } from "../print-error.ts";
import { askStats } from "../site-stats.ts";

interface StatsFlags {
  readonly last: string;
  readonly pop?: string;
  readonly json?: true;
  readonly endpoint?: string;
}

const AFTER_HELP = `
The token comes from TIDEMARK_TOKEN alone; it needs the scope read.

Exit codes: 0 done, 1 refused, 2 wrong usage or settings, 3 the edge cannot be reached.

  tidemark stats
  tidemark stats --last 7d --pop FRA --json`;

/** `tidemark stats`: says what the site's isolates have counted. */
export function statsCommand(): Command {
  return refuseTokenFlag(new Command("stats"))
    .description("Say how much of the site comes from the cache.")
    .option("--last <time>", "minutes, hours or days up to now, as in 15m, 24h or 7d", duration, "24h")
    .option("--pop <name>", "one PoP alone", valueNotFlag)
    .option("--json", "print JSON as the edge sends it")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: StatsFlags) => {
      process.exitCode = await say(flags);
    });
}

async function say({ last, pop, json, endpoint = process.env.TIDEMARK_ENDPOINT }: StatsFlags): Promise<number> {
  const asked = await askStats(endpoint, last, { pop });
  if (asked.kind === "failed") {
    printError(asked.message);
    return asked.exit;
  }
  process.stdout.write(json ? `${JSON.stringify(asked.stats)}\n` : sentences(asked.stats, last));
  return EXIT.done;
}

function sentences(stats: SiteStats, last: string): string {
  const verdicts = verdictsOf(stats).map((verdict) => verdictText(verdict));
  return `${[...statsLines(stats, last), ...(verdicts.length > 0 ? ["", ...verdicts] : [])].join("\n")}\n`;
}

function duration(text: string): string {
  if (!/^[1-9][0-9]{0,5}[mhd]$/.test(text)) throw new InvalidArgumentError("It must be as in 15m, 24h or 7d.");
  return text;
}
