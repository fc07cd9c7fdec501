import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import { Command, InvalidArgumentError, Option } from "commander";
import { createPurger, PurgeError, type PurgeRequest, type Receipt } from "../sdk/index.ts";
import { EXIT, EXIT_OF } from "./exit-code.ts";
import { PurgeItemsError, readPurgeItems } from "./purge-items.ts";
import { purgeReport, seconds } from "./purge-report.ts";

interface PurgeFlags {
  readonly url?: readonly string[];
  readonly tag?: readonly string[];
  readonly everything?: true;
  readonly refresh?: true;
  readonly wait?: true;
  readonly waitTimeout?: number;
  readonly json?: true;
  readonly reason?: string;
  readonly id?: string;
  readonly endpoint?: string;
}

/** Node's timers take no more. */
const LONGEST_WAIT_SECONDS = 2_147_483;

const AFTER_HELP = `
The token comes from TIDEMARK_TOKEN alone.

Items on standard input, one on a line: /path or http(s)://… is a URL, tag:NAME a tag; empty lines and # lines do not count.

Exit codes: 0 done, 1 refused, 2 wrong usage or settings, 3 the edge cannot be reached, 4 not settled in time.

  tidemark purge --url /about --url /team --refresh
  tidemark purge --tag post:7 --wait
  psql -Atc "select 'tag:song:' || id from changed" | tidemark purge -`;

/** `tidemark purge`: tells the edge what has changed. */
export function purgeCommand(): Command {
  return new Command("purge")
    .description("Purge URLs, tags or everything.")
    .argument("[-]", "a dash: read items from standard input too")
    .option("--url <url>", "a path of the site or a whole URL; may be repeated", oneMore)
    .option("--tag <tag>", "a tag; may be repeated", oneMore)
    .option("--everything", "the whole site")
    .option("--refresh", "fetch the purged URLs again at once, and print a line for each")
    .option("--wait", "end only when no PoP serves what was purged")
    .addOption(
      new Option("--wait-timeout <seconds>", "wait no longer than this (and do wait)")
        .argParser(waitSeconds)
        .implies({ wait: true }),
    )
    .option("--json", "print the receipt as one JSON object")
    .option("--reason <text>", "why, for the audit trail", ownValue)
    .option("--id <id>", "names this purge: sent again under the same id, it happens once", ownValue)
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", ownValue)
    .addOption(new Option("--token [token]").hideHelp())
    .on("option:token", refuseToken)
    .addHelpText("after", AFTER_HELP)
    .action(async (dash: string | undefined, flags: PurgeFlags, command: Command) => {
      if (dash !== undefined && dash !== "-") {
        command.error(`error: ${JSON.stringify(dash)} has no flag; name it with --url or --tag`);
      }
      process.exitCode = await purge(flags, dash === "-");
    });
}

async function purge(flags: PurgeFlags, readsInput: boolean): Promise<number> {
  const purger = createPurger({ endpoint: flags.endpoint });
  let receipt: Receipt;
  try {
    receipt = await purger.purge(await requestOf(flags, readsInput));
  } catch (error) {
    return failed(error);
  } finally {
    await purger.close();
  }
  process.stdout.write(flags.json ? `${JSON.stringify(receipt)}\n` : purgeReport(receipt));
  for (const warning of receipt.warnings ?? []) complain(warning);
  return flags.wait ? await settled(receipt, flags.waitTimeout) : EXIT.done;
}

async function requestOf(flags: PurgeFlags, readsInput: boolean): Promise<PurgeRequest> {
  const { everything, refresh, reason, id } = flags;
  const more = readsInput ? readPurgeItems(await text(process.stdin)) : { urls: [], tags: [] };
  const urls = [...(flags.url ?? []), ...more.urls];
  const tags = [...(flags.tag ?? []), ...more.tags];
  if (urls.length + tags.length === 0 && !everything) {
    throw new PurgeItemsError(
      "nothing is named. Use --url, --tag or --everything, or a dash and items on standard input.",
    );
  }
  return {
    urls: urls.length > 0 ? urls : undefined,
    tags: tags.length > 0 ? tags : undefined,
    everything,
    refresh,
    reason,
    id,
  };
}

async function settled(receipt: Receipt, waitTimeoutSeconds: number | undefined): Promise<number> {
  progress(`Waiting ${seconds(receipt.settlesInMs)} for it to settle …`);
  const signal = waitTimeoutSeconds === undefined ? undefined : AbortSignal.timeout(waitTimeoutSeconds * 1_000);
  try {
    await receipt.settled({ signal });
  } catch (error) {
    if (error !== signal?.reason) throw error;
    complain(`purge ${receipt.seq} has not settled within ${waitTimeoutSeconds} s. It stands, and settles by itself.`);
    return EXIT.notSettled;
  }
  progress("Settled.");
  return EXIT.done;
}

/** Says what went wrong. What is no failure of a purge is a bug, and goes on as it came. */
function failed(error: unknown): number {
  if (error instanceof PurgeError) {
    complain(error.message);
    if (error.code === "not-configured") {
      complain("here --endpoint can name the endpoint; the token comes from TIDEMARK_TOKEN alone.");
    }
    return EXIT_OF[error.code];
  }
  if (error instanceof PurgeItemsError || error instanceof TypeError) {
    complain(error.message);
    return EXIT.usage;
  }
  throw error;
}

function refuseToken(this: Command): never {
  // Never with the value: it is a secret.
  this.error(
    "error: --token does not exist, because everybody on a machine can see the arguments of its processes, and shells " +
      "keep them. Set the variable TIDEMARK_TOKEN. If that was a real token, replace it.",
  );
}

function oneMore(item: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), ownValue(item)];
}

/** commander takes whatever follows for the value, so that `--tag --wait` would purge the tag `--wait`, and not wait. */
function ownValue(value: string): string {
  if (value.startsWith("--")) throw new InvalidArgumentError("That is a flag; the value before it is missing.");
  return value;
}

function waitSeconds(words: string): number {
  const value = Number(words);
  if (!(value > 0 && value <= LONGEST_WAIT_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, more than 0 and at most ${LONGEST_WAIT_SECONDS}.`);
  }
  return value;
}

function progress(line: string): void {
  process.stderr.write(`${styleText("dim", line, { stream: process.stderr })}\n`);
}

function complain(words: string): void {
  process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${words}\n`);
}
