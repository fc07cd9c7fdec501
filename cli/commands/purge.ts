import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import { Command, InvalidArgumentError, Option } from "commander";
import { createPurger, PurgeError, type PurgeRequest, type Receipt } from "../../sdk/index.ts";
import { complain, complainOf } from "../print-error.ts";
import { EXIT } from "../exit-code.ts";
import { PurgeItemsError, readPurgeItems } from "../purge-items.ts";
import { purgeReport, seconds } from "../purge-report.ts";
import { ownValue, refuseTokenFlag } from "../flags.ts";

interface PurgeFlags {
  readonly url?: readonly string[];
  readonly tag?: readonly string[];
  readonly prefix?: readonly string[];
  readonly host?: readonly string[];
  readonly everything?: true;
  readonly soft?: true;
  readonly dryRun?: true;
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

Items on standard input, one on a line: /path or http(s)://… is a URL, tag:NAME a tag, prefix:/PATH a prefix, host:NAME a
host; empty lines and # lines do not count.

Exit codes: 0 done, 1 refused, 2 wrong usage or settings, 3 the edge cannot be reached, 4 not settled in time.

  tidemark purge --url /about --url /team --refresh
  tidemark purge --tag post:7 --wait
  tidemark purge --prefix /shop --prefix www.example.com/blog --dry-run
  psql -Atc "select 'tag:song:' || id from changed" | tidemark purge -`;

/** `tidemark purge`: tells the edge what has changed. */
export function purgeCommand(): Command {
  return refuseTokenFlag(new Command("purge"))
    .description("Purge URLs, tags, prefixes, hosts or everything.")
    .argument("[-]", "a dash: read items from standard input too")
    .option("--url <url>", "a path of the site or a whole URL; may be repeated", oneMore)
    .option("--tag <tag>", "a tag; may be repeated", oneMore)
    .option("--prefix <prefix>", "whole segments of a path and all below, like /shop; may be repeated", oneMore)
    .option("--host <host>", "all of one host; may be repeated", oneMore)
    .option("--everything", "the whole site")
    .option("--soft", "make it stale instead of gone: the old page may answer while the new one is fetched")
    .option("--dry-run", "purge nothing: print what would be purged, and warnings")
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
    .addHelpText("after", AFTER_HELP)
    .action(async (dash: string | undefined, flags: PurgeFlags, command: Command) => {
      if (dash !== undefined && dash !== "-") {
        command.error(`error: ${JSON.stringify(dash)} has no flag; name it with --url, --tag, --prefix or --host`);
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
  return flags.wait && !receipt.dryRun ? await settled(receipt, flags.waitTimeout) : EXIT.done;
}

async function requestOf(flags: PurgeFlags, readsInput: boolean): Promise<PurgeRequest> {
  const { everything, soft, dryRun, refresh, reason, id } = flags;
  const more = readPurgeItems(readsInput ? await text(process.stdin) : "");
  const named = {
    urls: [...(flags.url ?? []), ...more.urls],
    tags: [...(flags.tag ?? []), ...more.tags],
    prefixes: [...(flags.prefix ?? []), ...more.prefixes],
    hosts: [...(flags.host ?? []), ...more.hosts],
  };
  const lists = Object.entries(named).filter(([, items]) => items.length > 0);
  if (lists.length === 0 && !everything) {
    throw new PurgeItemsError(
      "nothing is named. Use --url, --tag, --prefix, --host or --everything, or a dash and items on standard input.",
    );
  }
  return {
    ...Object.fromEntries(lists),
    everything,
    mode: soft && "soft",
    dryRun,
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
  if (error instanceof PurgeError) return complainOf(error);
  if (error instanceof PurgeItemsError || error instanceof TypeError) {
    complain(error.message);
    return EXIT.usage;
  }
  throw error;
}

function oneMore(item: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), ownValue(item)];
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
