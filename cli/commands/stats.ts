import { Command, InvalidArgumentError } from "commander";
import type { SiteStats } from "../../wire/stats.ts";
import { printable } from "../../wire/text/printable.ts";
import { statsLines } from "../../wire/text/stats-text.ts";
import { verdictsOf, verdictText } from "../../wire/verdicts/verdicts.ts";
import { EXIT } from "../exit-code.ts";
import { refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError } from "../text/print-error.ts";

interface StatsFlags {
  readonly last: string;
  readonly pop?: string;
  readonly json?: true;
  readonly endpoint?: string;
}

/** The longest wait for the edge. Milliseconds. */
const TIMEOUT_MS = 10_000;

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
    .option("--pop <name>", "only this PoP", valueNotFlag)
    .option("--json", "print the edge's JSON")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: StatsFlags) => {
      process.exitCode = await say(flags);
    });
}

async function say({ last, pop, json, endpoint = process.env.TIDEMARK_ENDPOINT }: StatsFlags): Promise<number> {
  const token = process.env.TIDEMARK_TOKEN;
  if (!endpoint || !URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    printError("set TIDEMARK_ENDPOINT or --endpoint to the site's origin, like https://www.example.com.");
    return EXIT.usage;
  }
  // The request's error about an invalid character would show the token around it.
  if (!token || !/^[!-~]+$/.test(token)) {
    printError("set TIDEMARK_TOKEN to a token that has the scope read.");
    return EXIT.usage;
  }
  const url = new URL("/_tidemark/stats", endpoint);
  url.searchParams.set("last", last);
  if (pop !== undefined) url.searchParams.set("pop", pop);
  let status: number;
  let text: string;
  try {
    // A redirect could lead the token to another host.
    const answer = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    status = answer.status;
    text = await answer.text();
  } catch (error) {
    printError(`the edge at ${url.origin} cannot be reached: ${causeOf(error)}.`);
    return EXIT.unreachable;
  }
  const body = parsed(text);
  if (status !== 200 || body?.scope !== "site") {
    const detail = typeof body?.detail === "string" ? printable(body.detail) : `it answered ${status}, without stats`;
    printError(`the edge at ${url.origin}: ${detail}`);
    return status >= 500 ? EXIT.unreachable : EXIT.refused;
  }
  process.stdout.write(json ? `${JSON.stringify(body)}\n` : sentences(body as unknown as SiteStats, last));
  return EXIT.done;
}

function sentences(stats: SiteStats, last: string): string {
  const verdicts = verdictsOf(stats).map((verdict) => verdictText(verdict));
  return `${[...statsLines(stats, last), ...(verdicts.length > 0 ? ["", ...verdicts] : [])].join("\n")}\n`;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return null; // the caller reports that these are not stats
  }
}

function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== "" ? cause.message : message;
}

function duration(text: string): string {
  if (!/^[1-9][0-9]{0,5}[mhd]$/.test(text)) throw new InvalidArgumentError("It must be like 15m, 24h or 7d.");
  return text;
}
