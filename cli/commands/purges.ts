import { Command, InvalidArgumentError } from "commander";
import type { PurgeRecordPage, Purger } from "../../sdk/index.ts";
import { DEFAULT_LISTED_PURGES, MAX_LISTED_PURGES } from "../../wire/purge-record-query.ts";
import { EXIT } from "../exit-code.ts";
import { inMs, refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { followPurges } from "../follow-purges.ts";
import { interruption } from "../interruption.ts";
import { openPurger } from "../named-edge.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError, printPurgeError } from "../text/print-error.ts";
import { GrowingTable } from "../text/purges-table.ts";

interface PurgesFlags {
  readonly follow?: true;
  readonly every?: number;
  readonly before?: number;
  readonly limit?: number;
  readonly json?: true;
  readonly endpoint?: string;
}

/** One purge by its number, or the newest ones. */
type ListedPurges =
  | { readonly seq: number }
  | { readonly before: number | undefined; readonly limit: number | undefined };

const AFTER_HELP = `
The token comes from TIDEMARK_TOKEN alone; it needs the scope read.

Exit codes: 0 done, 1 refused, or no such purge, 2 wrong usage or settings, 3 the edge cannot be reached.

  tidemark purges --limit 5
  tidemark purges 1042 --json
  tidemark purges --follow --json | jq .reason`;

/** The defaults of --follow: how many purges it begins with, and how often it asks. */
const DEFAULT_LATEST = 10;
const DEFAULT_EVERY_SECONDS = 2;
const MAX_EVERY_SECONDS = 86_400;

/** `tidemark purges`: lists the purges, with their callers and reasons. */
export function purgesCommand(): Command {
  return refuseTokenFlag(new Command("purges"))
    .description(DESCRIPTIONS.purges)
    .argument("[seq]", "the number of one purge", wholeNumber)
    .option("--before <seq>", "only purges below this number", wholeNumber)
    .option(
      "--limit <count>",
      `at most this many, up to ${MAX_LISTED_PURGES} (default: ${DEFAULT_LISTED_PURGES})`,
      limitNumber,
    )
    .option(
      "--follow",
      `print the latest purges (default: ${DEFAULT_LATEST}), then new ones as they come, until Ctrl-C`,
    )
    .option(
      "--every <seconds>",
      `with --follow: ask the edge this often (default: ${DEFAULT_EVERY_SECONDS})`,
      everySeconds,
    )
    .option("--json", "print the edge's JSON; with --follow, a line for each purge")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (seq: number | undefined, flags: PurgesFlags, command: Command) => {
      const { before, limit, follow, every } = flags;
      if (follow && (seq ?? before) !== undefined) command.error("error: --follow takes neither a number nor --before");
      if (every !== undefined && !follow) command.error("error: --every needs --follow");
      if (follow) {
        process.exitCode = await followAndPrint(flags);
        return;
      }
      if (seq !== undefined && (before ?? limit) !== undefined) {
        command.error("error: --before and --limit need a list; leave them out for one purge");
      }
      process.exitCode = await list(seq === undefined ? { before, limit } : { seq }, flags);
    });
}

async function list(query: ListedPurges, { json, endpoint }: PurgesFlags): Promise<number> {
  // A person who waits can run the command again.
  const purger = openPurger({ endpoint, retries: 0 });
  let page: PurgeRecordPage;
  try {
    page = "seq" in query ? await onePurge(purger, query.seq) : await purger.purges(query);
  } catch (error) {
    return printPurgeError(error);
  } finally {
    await purger.close();
  }
  const { purges, next } = page;
  if ("seq" in query && purges.length === 0) {
    printError(`the log has no purge ${query.seq}, or no longer has it.`);
    return EXIT.refused;
  }
  if (json) process.stdout.write(`${JSON.stringify("seq" in query ? purges[0] : page)}\n`);
  else process.stdout.write(new GrowingTable().add(purges));
  if (!json && next !== null) process.stderr.write(`Older ones: tidemark purges --before ${next}\n`);
  return EXIT.done;
}

async function followAndPrint({ json, endpoint, limit, every = DEFAULT_EVERY_SECONDS }: PurgesFlags): Promise<number> {
  const purger = openPurger({ endpoint, retries: 0 });
  const ending = new AbortController();
  interruption().then(() => ending.abort());
  // The reader of a pipe may end first, like `head`, or the disk be full.
  process.stdout.on("error", () => ending.abort());
  const table = new GrowingTable();
  try {
    await followPurges(purger, {
      latest: limit ?? DEFAULT_LATEST,
      everyMs: inMs(every),
      signal: ending.signal,
      onPurges(purges) {
        process.stdout.write(json ? purges.map((purge) => `${JSON.stringify(purge)}\n`).join("") : table.add(purges));
      },
      onNote: printError,
    });
  } catch (error) {
    if (ending.signal.aborted) return EXIT.done;
    return printPurgeError(error);
  } finally {
    await purger.close();
  }
  return EXIT.done;
}

async function onePurge(purger: Purger, seq: number): Promise<PurgeRecordPage> {
  const record = await purger.status(seq);
  return { purges: record ? [record] : [], next: null };
}

function wholeNumber(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, 1 or more.");
  return Number(text);
}

function everySeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0.01 && seconds <= MAX_EVERY_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, from 0.01 to ${MAX_EVERY_SECONDS}.`);
  }
  return seconds;
}

function limitNumber(text: string): number {
  const limit = wholeNumber(text);
  if (limit > MAX_LISTED_PURGES) throw new InvalidArgumentError(`It must be at most ${MAX_LISTED_PURGES}.`);
  return limit;
}
