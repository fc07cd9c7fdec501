import { Command, InvalidArgumentError } from "commander";
import type { SiteStats } from "../../wire/stats.ts";
import { statsLines } from "../../wire/text/stats-text.ts";
import { verdictsOf, verdictText } from "../../wire/verdicts/verdicts.ts";
import { completeStats } from "../complete-stats.ts";
import { EXIT } from "../exit-code.ts";
import { refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { openPurger } from "../named-edge.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printPurgeError } from "../text/print-error.ts";

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

/** `tidemark stats`: prints the counts of the site's isolates. */
export function statsCommand(): Command {
  return refuseTokenFlag(new Command("stats"))
    .description(DESCRIPTIONS.stats)
    .option("--last <time>", "the last minutes, hours or days, like 15m, 24h or 7d", duration, "24h")
    .option("--pop <name>", "only this PoP", popName)
    .option("--json", "print the edge's JSON")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: StatsFlags) => {
      process.exitCode = await say(flags);
    });
}

async function say({ last, pop, json, endpoint }: StatsFlags): Promise<number> {
  // A person who waits can run the command again.
  const purger = openPurger({ endpoint, retries: 0 });
  try {
    const stats = await purger.stats({ last, pop });
    process.stdout.write(json ? `${JSON.stringify(stats)}\n` : sentences(completeStats(stats), last));
    return EXIT.done;
  } catch (error) {
    return printPurgeError(error);
  } finally {
    await purger.close();
  }
}

function sentences(stats: SiteStats, last: string): string {
  const verdicts = verdictsOf(stats).map((verdict) => verdictText(verdict));
  return `${[...statsLines(stats, last), ...(verdicts.length > 0 ? ["", ...verdicts] : [])].join("\n")}\n`;
}

function popName(text: string): string {
  if (text === "") throw new InvalidArgumentError("It must be the name of a PoP, like FRA.");
  return valueNotFlag(text);
}

function duration(text: string): string {
  if (!/^[1-9][0-9]{0,5}[mhd]$/.test(text)) throw new InvalidArgumentError("It must be like 15m, 24h or 7d.");
  return text;
}
