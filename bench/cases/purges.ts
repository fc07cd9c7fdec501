import { Command } from "commander";
import { ROUND_TRIPS } from "../../local/index.ts";
import { installMissing } from "../debian-programs.ts";
import { NGINX, nginxVersion } from "../nginx/nginx-cache.ts";
import { positive } from "../options.ts";
import { type BatchResult, measureBatches } from "../purges/purge-batches.ts";
import { measureWalks, type WalkResult } from "../purges/purge-walk.ts";
import { measurePurgesUnderReads, PURGED_IN, type PurgesResult, REGIONS } from "../purges/purges-under-reads.ts";
import type { LatencyHistogram } from "../report/latency-histogram.ts";
import { thisMachine } from "../report/machine.ts";
import { writeResults } from "../report/results.ts";
import { printTable } from "../report/table.ts";

const SIZES = [10_000, 100_000] as const;

interface PurgesOptions {
  readonly purges: number;
  readonly rate: number;
  readonly reads: number;
  readonly maxHere: number;
  readonly install: boolean;
  readonly json?: string;
}

export const purges = new Command("purges")
  .description(
    "How long purges take while visitors read, how many a second there can be, and how long nginx takes to purge a tag.",
  )
  .option("--purges <n>", "how many purges to send while visitors read", positive, 1000)
  .option("--rate <n>", "how many purges to send in a second", positive, 25)
  .option("--reads <n>", "how many reads to send in a second", positive, 150)
  .option(
    "--max-here <n>",
    "the most pages to store in the simulated CDN for the comparison with nginx, at about 350 a second",
    positive,
    10_000,
  )
  .option("--install", "install nginx from Debian's packages if it is missing; needs root", false)
  .option("--json <file>", "where the results go (default: bench/results/purges-<date>.json)")
  .action(measurePurges);

async function measurePurges({ json, install, ...settings }: PurgesOptions): Promise<void> {
  const machine = thisMachine();
  if (install) installMissing([NGINX]);
  const nginx = nginxVersion();
  const { cpu, cores, system, node, workerd, loadBefore } = machine;
  console.log(`${cpu}, ${cores} cores shared with the load, load ${loadBefore} before; ${system}`);
  console.log(`Node ${node}, workerd ${workerd}, ${nginx === null ? "no nginx" : `nginx ${nginx}`}\n`);
  const paced = { purges: settings.purges, purgesPerSecond: settings.rate, readsPerSecond: settings.reads };
  const near = await measurePurgesUnderReads({ ...paced, latency: false });
  console.error("purges while reads run, without latency: done");
  const far = await measurePurgesUnderReads({ ...paced, latency: true });
  console.error("purges while reads run, with latency: done");
  const batches = await measureBatches();
  console.error("batches: done");
  const walks = nginx === null ? [] : await measureWalks({ sizes: SIZES, maxHere: settings.maxHere });
  printTable(
    ["", "p50 ms", "p99 ms", "a second"],
    [
      ...rowsOfPurges(near, settings.purges, "no latency"),
      ...rowsOfPurges(far, settings.purges, "latency"),
      ...batches.map(rowOfBatch),
      ...walks.flatMap(rowsOfWalk),
    ],
  );
  const { clientMs, logMs } = ROUND_TRIPS[PURGED_IN]!;
  const sum = (count: "readsAfterSettled" | "oldBeforeSettled") => (near[count] + far[count]).toLocaleString("en");
  const lagMs = Math.round(Math.max(near.longestLagMs, far.longestLagMs));
  console.log(`
Purges while reads run: PoPs ${REGIONS.join(", ")}, two isolates each, purged in ${PURGED_IN}. Without latency, calls take as long as
this machine takes. With latency, there are ${clientMs} ms between the backend and ${PURGED_IN}, ${logMs} ms between ${PURGED_IN} and the log,
and for the others the round trips in local/cdn/latency.ts. A purge has settled when the receipt's settled() resolved: none of
the ${sum("readsAfterSettled")} reads after that was old, and ${sum("oldBeforeSettled")} reads before it were. Virtual time was up to ${lagMs} ms behind, and the
reads after settling waited for it.`);
  if (nginx === null)
    console.log(
      "\nThe comparison with nginx was SKIPPED, because nginx is missing: as root on Debian, --install installs it.",
    );
  else {
    console.log(`
nginx's walk is a grep for the tag through the files of proxy_cache, with 2 KiB bodies in warm memory, and then rm. It is
one cache on one machine, and a fetch under way can still bring the old page back. Each walk and each purge removed one
page and left its neighbour.`);
  }
  writeResults("purges", { machine, nginx, settings, near, far, batches, walks }, json);
}

function rowsOfPurges(result: PurgesResult, purges: number, network: string): string[][] {
  const hits = ((100 * result.hits) / result.reads.count).toFixed(0);
  return [
    row(`${purges.toLocaleString("en")} tag purges while reads run, ${network}: acknowledged`, result.acknowledged),
    row("  settled", result.settled),
    row("  last request with an old answer (one purge in 20 is watched)", result.lastOld),
    row(`  the reads, ${hits} % of them hits`, result.reads, result.readsPerSecond),
  ];
}

function rowOfBatch({ items, calls, acknowledged, itemsPerSecond }: BatchResult): string[] {
  if (items > 1) return row(`purges in batches of ${items.toLocaleString("en")} tags`, acknowledged, itemsPerSecond);
  return row(
    `purges of one tag, ${calls === 1 ? "one after the other" : `${calls} at a time`}`,
    acknowledged,
    itemsPerSecond,
  );
}

function rowsOfWalk({ nginx, here }: WalkResult): string[][] {
  const median = (name: string, entries: number, times: LatencyHistogram) => [
    `${entries.toLocaleString("en")} pages stored: ${name}`,
    inMs(times.percentile(50)),
  ];
  return [
    median("nginx, walk for a tag", nginx.entries, nginx.walked),
    median("here, purge of a tag: acknowledged", here.entries, here.acknowledged),
    median("here, purge of a tag: settled", here.entries, here.settled),
  ];
}

function row(name: string, times: LatencyHistogram, perSecond?: number): string[] {
  const rate = perSecond === undefined ? "" : Math.round(perSecond).toLocaleString("en");
  return [name, inMs(times.percentile(50)), inMs(times.percentile(99)), rate];
}

function inMs(ms: number): string {
  return ms.toLocaleString("en", { maximumSignificantDigits: ms < 100 ? 2 : 4 });
}
