import { Command, InvalidArgumentError } from "commander";
import { type PurgeRecordPage, type PurgesQuery, readPurges } from "../../sdk/http/read-purges.ts";
import { PurgeError } from "../../sdk/index.ts";
import { findSettings } from "../../sdk/options.ts";
import { EXIT } from "../exit-code.ts";
import { refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { printError, printPurgeError } from "../print-error.ts";
import { purgesTable } from "../purges-table.ts";

interface PurgesFlags {
  readonly before?: number;
  readonly limit?: number;
  readonly json?: true;
  readonly endpoint?: string;
}

const DEADLINE_MS = 10_000;

/** The most purges that the edge lists at once. */
const MAX_LISTED = 500;

const AFTER_HELP = `
The token comes from TIDEMARK_TOKEN alone; it needs the scope read.

Exit codes: 0 done, 1 refused, or no such purge, 2 wrong usage or settings, 3 the edge cannot be reached.

  tidemark purges --limit 5
  tidemark purges 1042 --json`;

/** `tidemark purges`: lists the purges, with their callers and reasons. */
export function purgesCommand(): Command {
  return refuseTokenFlag(new Command("purges"))
    .description("List the latest purges, or show one.")
    .argument("[seq]", "the number of one purge", wholeNumber)
    .option("--before <seq>", "only purges below this number", wholeNumber)
    .option("--limit <count>", `at most this many, up to ${MAX_LISTED} (default: 50)`, limitNumber)
    .option("--json", "print JSON as the edge sends it")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (seq: number | undefined, flags: PurgesFlags, command: Command) => {
      const { before, limit } = flags;
      if (seq !== undefined && (before ?? limit) !== undefined) {
        command.error("error: one purge has no --before and no --limit");
      }
      process.exitCode = await list(seq === undefined ? { before, limit } : { seq }, flags);
    });
}

async function list(query: PurgesQuery, { json, endpoint }: PurgesFlags): Promise<number> {
  let page: PurgeRecordPage | null;
  try {
    const settings = findSettings({ endpoint }, process.env);
    page = await readPurges(settings, query, AbortSignal.timeout(DEADLINE_MS));
  } catch (error) {
    if (error instanceof PurgeError) return printPurgeError(error);
    throw error;
  }
  if (page === null) {
    printError(`the log has no purge ${"seq" in query ? query.seq : ""}, or no longer has it.`);
    return EXIT.refused;
  }
  const { purges, next } = page;
  if (json) process.stdout.write(`${JSON.stringify("seq" in query ? purges[0] : page)}\n`);
  else process.stdout.write(purgesTable(purges));
  if (!json && next !== null) process.stderr.write(`Older ones: tidemark purges --before ${next}\n`);
  return EXIT.done;
}

function wholeNumber(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return Number(text);
}

function limitNumber(text: string): number {
  const limit = wholeNumber(text);
  if (limit > MAX_LISTED) throw new InvalidArgumentError(`It must be at most ${MAX_LISTED}.`);
  return limit;
}
