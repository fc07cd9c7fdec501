import { Command, InvalidArgumentError } from "commander";
import { textWithoutCall } from "../../sdk/errors.ts";
import { PurgeError, type Purger } from "../../sdk/index.ts";
import { completeStats } from "../complete-stats.ts";
import { inMs, refuseTokenFlag, valueNotFlag } from "../flags.ts";
import { hasPaused } from "../interruption.ts";
import { openPurger } from "../named-edge.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printPurgeError } from "../text/print-error.ts";
import { type TopView, topFrame } from "../text/top-frame.ts";
import { lastMinuteOf, sinceLook } from "../text/top-rates.ts";

interface TopFlags {
  readonly every: number;
  readonly once?: true;
  readonly json?: true;
  readonly endpoint?: string;
}

const LAST = "15m";
const SHOWN_PURGES = 5;
const DEFAULT_EVERY_SECONDS = 2;
const MAX_EVERY_SECONDS = 3600;

/** The width if standard output is not a terminal: enough for every line. */
const UNBOUNDED = { columns: 10_000, rows: 1000 };

/** Switches to a separate screen without a cursor, and back. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const CTRL_C = "\u0003";

const AFTER_HELP = `
On one machine, rates cover the time since the previous request for stats, and the latest minute. Elsewhere each isolate
reports once a minute, so rates cover the latest minute that all have reported. A low terminal shows the first rows of each
list. In a pipe it prints once.

The token comes from TIDEMARK_TOKEN alone; it needs the scope read.

Exit codes: 0 done, 1 refused, 2 wrong usage or settings, 3 the edge cannot be reached.

  tidemark top
  tidemark top --once
  tidemark top --json --every 60 | jq .minute.requestsPerSecond`;

/** `tidemark top`: what the edge does now, in a terminal. */
export function topCommand(): Command {
  return refuseTokenFlag(new Command("top"))
    .description(DESCRIPTIONS.top)
    .option("--every <seconds>", "ask the edge this often", everySeconds, DEFAULT_EVERY_SECONDS)
    .option("--once", "print the figures once and exit")
    .option("--json", "print the edge's stats as a line of JSON each time")
    .option("--endpoint <url>", "the site's origin (else TIDEMARK_ENDPOINT)", valueNotFlag)
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: TopFlags) => {
      const endpoint = flags.endpoint ?? process.env.TIDEMARK_ENDPOINT ?? "";
      const purger = openPurger({ endpoint: flags.endpoint, retries: 0 });
      try {
        await watch(endpoint, purger, flags);
      } catch (error) {
        process.exitCode = printPurgeError(error);
      } finally {
        await purger.close();
      }
    });
}

async function watch(endpoint: string, purger: Purger, { once, json, every }: TopFlags): Promise<void> {
  const isScreen = process.stdout.isTTY === true && !once && !json;
  const end = new AbortController();
  let view = await look(endpoint, purger, null, end.signal);
  const redraw = () => draw(view);
  const leave = isScreen ? enterScreen(end, redraw) : endAtSignals(end);
  try {
    for (;;) {
      if (json) process.stdout.write(`${JSON.stringify({ minute: lastMinuteOf(view.stats), ...view })}\n`);
      else if (isScreen) draw(view);
      else process.stdout.write(`${topFrame(view, UNBOUNDED).join("\n")}\n`);
      if (once || (!json && !isScreen) || !(await hasPaused(inMs(every), end.signal))) return;
      view = await look(endpoint, purger, view, end.signal);
      if (end.signal.aborted) return;
    }
  } finally {
    leave();
  }
}

/** After the first success, a failure is shown beside the last figures, which stay on the screen, even at the end. */
async function look(endpoint: string, purger: Purger, before: TopView | null, signal: AbortSignal): Promise<TopView> {
  try {
    const stats = completeStats(await purger.stats({ last: LAST, signal }));
    const { purges } = await purger.purges({ limit: SHOWN_PURGES, signal });
    return { endpoint, stats, now: before && sinceLook(before.stats, stats), purges, trouble: null };
  } catch (error) {
    if (before === null) throw error;
    if (signal.aborted) return before;
    if (!(error instanceof PurgeError)) throw error;
    return { ...before, trouble: textWithoutCall(error) };
  }
}

function draw(view: TopView): void {
  // A terminal that does not know its size says 0.
  const columns = process.stdout.columns || 80;
  const rows = process.stdout.rows || 24;
  // Lines are overwritten, and the rest of each line is cleared, so that nothing flickers.
  const lines = topFrame(view, { columns, rows: rows - 1 }).map((line) => `${line}\u001b[K`);
  process.stdout.write(`\u001b[H${lines.join("\r\n")}\u001b[J`);
}

/** Uses the whole terminal until q or Ctrl-C. Returns a function that restores it. */
function enterScreen(end: AbortController, redraw: () => void): () => void {
  const { stdin, stdout } = process;
  const take = (keys: Buffer) => {
    if ([..."qQ", CTRL_C].some((key) => keys.includes(key))) end.abort();
  };
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on("data", take).resume();
  stdout.write(ENTER);
  stdout.on("resize", redraw);
  const forget = endAtSignals(end);
  return () => {
    forget();
    stdin.off("data", take).pause();
    stdout.off("resize", redraw);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdout.write(LEAVE);
  };
}

function endAtSignals(end: AbortController): () => void {
  const stop = () => end.abort();
  process.on("SIGINT", stop).on("SIGTERM", stop);
  process.stdout.on("error", stop); // a reader such as `head` has read enough, or the disk is full
  return () => {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  };
}

function everySeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 1 && seconds <= MAX_EVERY_SECONDS)) {
    throw new InvalidArgumentError(`It must be 1 to ${MAX_EVERY_SECONDS}.`);
  }
  return seconds;
}
