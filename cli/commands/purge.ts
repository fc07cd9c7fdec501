import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import { Command, InvalidArgumentError, Option } from "commander";
import { textWithoutCall } from "../../sdk/errors.ts";
import { PurgeIncomplete, type PurgeOptions, type Purger, type Receipt } from "../../sdk/index.ts";
import { MAX_PURGE_BYTES, MAX_PURGE_ITEMS, MAX_REFRESH_URLS } from "../../wire/purge-request.ts";
import { counted } from "../../wire/text/numbers.ts";
import { EXIT } from "../exit-code.ts";
import { inMs, listedValues, refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { openPurger } from "../named-edge.ts";
import { type PurgeItems, PurgeItemsError, readPurgeItems } from "../purge-items.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError, printPurgeError } from "../text/print-error.ts";
import { purgeReport, seconds } from "../text/purge-report.ts";

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

/** The longest that a timer of Node can run. */
const MAX_WAIT_SECONDS = 2_147_483;

/** With `--refresh` the edge answers when it has fetched all pages. */
const REFRESH_DEADLINE_MS = 600_000;

const AFTER_HELP = `
The token comes from TIDEMARK_TOKEN alone.

Standard input has one item on each line: /path or http(s)://… is a URL, tag:NAME a tag, prefix:/PATH a prefix, host:NAME a
host. Empty lines and lines that begin with # are skipped. The command divides more than 10,000 items, or 50 URLs with
--refresh, into several purges. If it is interrupted, run it again with the --id that it printed: it continues, and no
purge happens twice.

Exit codes: 0 done, 1 refused, 2 wrong usage or settings, 3 the edge cannot be reached, 4 not settled in time.

  tidemark purge --url /about --url /team --refresh
  tidemark purge --tag post:7 --wait
  tidemark purge --prefix /shop --prefix www.example.com/blog --dry-run
  psql -Atc "select 'tag:song:' || id from changed" | tidemark purge -`;

/** `tidemark purge`: purges what has changed. */
export function purgeCommand(): Command {
  return refuseTokenFlag(new Command("purge"))
    .description(DESCRIPTIONS.purge)
    .argument("[-]", "a dash: also read items from standard input")
    .option("--url <url>", "a path of the site or a whole URL; may be repeated", listedValues)
    .option("--tag <tag>", "a tag; may be repeated", listedValues)
    .option(
      "--prefix <prefix>",
      "whole segments of a path, with everything below, like /shop; may be repeated",
      listedValues,
    )
    .option("--host <host>", "every page of this host; may be repeated", listedValues)
    .option("--everything", "the whole site")
    .option(
      "--soft",
      "make pages stale instead of removing them: the old page may be served while the new one is fetched",
    )
    .option("--dry-run", "purge nothing; print what would be purged, and warnings")
    .option("--refresh", "fetch the purged URLs again at once, and print a line for each")
    .option("--wait", "wait until no PoP serves a purged page any more; with --soft, until each fetches it again")
    .addOption(
      new Option("--wait-timeout <seconds>", "wait, but at most this long")
        .argParser(waitSeconds)
        .implies({ wait: true }),
    )
    .option("--json", "print the receipt as one JSON object")
    .option("--reason <text>", "the reason, for the audit trail", valueNotFlag)
    .option(
      "--id <id>",
      "a name for this purge: if it is sent again with the same id, it still happens once",
      valueNotFlag,
    )
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (dash: string | undefined, flags: PurgeFlags, command: Command) => {
      if (dash !== undefined && dash !== "-") {
        command.error(`error: ${JSON.stringify(dash)} needs a flag: --url, --tag, --prefix or --host`);
      }
      process.exitCode = await purge(flags, dash === "-");
    });
}

async function purge(flags: PurgeFlags, readsInput: boolean): Promise<number> {
  const purger = openPurger({ endpoint: flags.endpoint });
  try {
    return await purgeAndReport(purger, flags, readsInput);
  } finally {
    await purger.close();
  }
}

/** Returns the exit code. */
async function purgeAndReport(purger: Purger, flags: PurgeFlags, readsInput: boolean): Promise<number> {
  let receipts: readonly Receipt[];
  let receipt: Receipt;
  try {
    ({ receipts, receipt } = await send(purger, await itemsOf(flags, readsInput), flags));
  } catch (error) {
    return exitCodeOf(error);
  }
  process.stdout.write(
    flags.json ? `${JSON.stringify(receipt)}\n` : purgeReport(receipt, flags.soft ? "soft" : "hard", receipts),
  );
  for (const warning of receipt.warnings ?? []) printError(warning);
  return flags.wait && !receipt.dryRun ? await waitUntilSettled(receipt, flags.waitTimeout) : EXIT.done;
}

/** Sends one purge, or several if there are too many items for one. */
async function send(
  purger: Purger,
  items: PurgeItems,
  { everything, soft, dryRun, refresh, reason, id }: PurgeFlags,
): Promise<{ readonly receipt: Receipt; readonly receipts: readonly Receipt[] }> {
  const options: PurgeOptions = { mode: soft && "soft", dryRun, refresh, reason, id };
  if (refresh) options.deadlineMs = REFRESH_DEADLINE_MS;
  if (everything) {
    const lists = Object.entries(items).filter(([, list]) => list.length > 0);
    const receipt = await purger.purge({ ...Object.fromEntries(lists), everything }, options);
    return { receipt, receipts: [receipt] };
  }
  const isLarge = !dryRun && mayBeSeveral(items, refresh === true);
  // In a fixed order, so that each purge has the same items when the command continues.
  const batch = purger.batch().add(isLarge ? sortedItems(items) : items);
  if (isLarge) {
    options.id ??= randomUUID();
    printProgress(
      `Purging under the id ${options.id}. If this is interrupted, the same command with --id ${options.id} continues.`,
    );
  }
  let accepted = 0;
  const committed = await batch.commit({
    ...options,
    onReceipt(receipt, { done, purges }) {
      accepted += countOf(receipt);
      if (purges > 1)
        printProgress(
          `${done} of ${purges} purges: ${counted(accepted, "item")}${receipt.replayed ? ", accepted earlier" : ""}`,
        );
    },
  });
  const { divided: _, ...receipt } = committed!;
  const { receipts } = receipt;
  return { receipt: receipts.length === 1 ? receipts[0]! : receipt, receipts };
}

function sortedItems({ urls, tags, prefixes, hosts }: PurgeItems): PurgeItems {
  return { urls: urls.toSorted(), tags: tags.toSorted(), prefixes: prefixes.toSorted(), hosts: hosts.toSorted() };
}

function countOf({ accepted: { urls, tags, prefixes, hosts } }: Receipt): number {
  return urls + tags + prefixes + hosts;
}

/** Whether there may be too many items for one purge. Then the purges need an id that the person knows. */
function mayBeSeveral(items: PurgeItems, refresh: boolean): boolean {
  const { urls, tags, prefixes, hosts } = items;
  return (
    urls.length + tags.length + prefixes.length + hosts.length > MAX_PURGE_ITEMS ||
    (refresh && urls.length > MAX_REFRESH_URLS) ||
    JSON.stringify(items).length > MAX_PURGE_BYTES / 2
  );
}

async function itemsOf(flags: PurgeFlags, readsInput: boolean): Promise<PurgeItems> {
  const fromInput = readPurgeItems(readsInput ? await text(process.stdin) : "");
  const named = {
    urls: [...(flags.url ?? []), ...fromInput.urls],
    tags: [...(flags.tag ?? []), ...fromInput.tags],
    prefixes: [...(flags.prefix ?? []), ...fromInput.prefixes],
    hosts: [...(flags.host ?? []), ...fromInput.hosts],
  };
  const broken = Object.values(named)
    .flat()
    .find((item) => item.includes("\ufffd"));
  if (broken !== undefined) {
    // It would be purged as %EF%BF%BD, which no page is stored under.
    throw new PurgeItemsError(
      `${JSON.stringify(broken)} is not in UTF-8. Write it in UTF-8, or its bytes as percent and two digits, like %E9. Nothing was purged.`,
    );
  }
  if (Object.values(named).every((items) => items.length === 0) && !flags.everything) {
    throw new PurgeItemsError(
      "there is nothing to purge. Name items with --url, --tag, --prefix, --host or --everything, or write a dash and send items on standard input.",
    );
  }
  if (flags.refresh && named.urls.length === 0) {
    throw new PurgeItemsError("--refresh needs a URL, because only a URL can be fetched again.");
  }
  return named;
}

async function waitUntilSettled(receipt: Receipt, waitTimeoutSeconds: number | undefined): Promise<number> {
  const isSettled = receipt.settlesInMs === 0; // as the report says
  if (!isSettled) printProgress(`Waiting ${seconds(receipt.settlesInMs)} for it to settle …`);
  const signal = waitTimeoutSeconds === undefined ? undefined : AbortSignal.timeout(inMs(waitTimeoutSeconds));
  try {
    await receipt.settled({ signal });
  } catch (error) {
    if (error !== signal?.reason) throw error;
    printError(
      `purge ${receipt.seq} has not settled within ${waitTimeoutSeconds} s. It was accepted, and will still settle.`,
    );
    return EXIT.notSettled;
  }
  if (!isSettled) printProgress("Settled.");
  return EXIT.done;
}

/** Prints what went wrong and returns the exit code. Throws any other error again, because that is a bug. */
function exitCodeOf(error: unknown): number {
  if (error instanceof PurgeItemsError || error instanceof TypeError) {
    printError(textWithoutCall(error));
    return EXIT.usage;
  }
  const exitCode = printPurgeError(error);
  if (error instanceof PurgeIncomplete) {
    // The common id, without the number of the purge.
    const id = error.failures[0]!.request.id!.replace(/\.\d+$/, "");
    printError(`run the same command with --id ${id} to send those that failed.`);
  }
  return exitCode;
}

function waitSeconds(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= MAX_WAIT_SECONDS)) {
    throw new InvalidArgumentError(`It must be a number of seconds, more than 0 and at most ${MAX_WAIT_SECONDS}.`);
  }
  return value;
}

function printProgress(line: string): void {
  process.stderr.write(`${styleText("dim", line, { stream: process.stderr })}\n`);
}
