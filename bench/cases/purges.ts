import { ROUND_TRIPS } from "../../local/index.ts";
import { type Case, count, type Outcome } from "../frame/case.ts";
import type { LatencyHistogram } from "../frame/latency-histogram.ts";
import { printTable } from "../frame/table.ts";
import { type BatchResult, measureBatches } from "../purges/purge-batches.ts";
import { measurePurgesUnderReads, PURGED_IN, type PurgesResult, REGIONS } from "../purges/purges-under-reads.ts";

interface PurgesOptions {
  readonly purges: number;
  readonly rate: number;
  readonly reads: number;
}

export const purges: Case<PurgesOptions> = {
  name: "purges",
  description: "How long purges take while visitors read, and how many a second there can be.",
  options: [
    count("--purges", "how many purges to send while visitors read", 1000),
    count("--rate", "how many purges to send in a second", 25),
    count("--reads", "how many reads to send in a second", 150),
  ],
  needs: [],
  measure: measurePurges,
};

async function measurePurges(settings: PurgesOptions): Promise<Outcome> {
  const paced = { purges: settings.purges, purgesPerSecond: settings.rate, readsPerSecond: settings.reads };
  const near = await measurePurgesUnderReads({ ...paced, latency: false });
  console.error("purges while reads run, without latency: done");
  const far = await measurePurgesUnderReads({ ...paced, latency: true });
  console.error("purges while reads run, with latency: done");
  const batches = await measureBatches();
  console.error("batches: done");
  printTable(
    ["", "p50 ms", "p99 ms", "a second"],
    [
      ...rowsOfPurges(near, settings.purges, "no latency"),
      ...rowsOfPurges(far, settings.purges, "latency"),
      ...batches.map(rowOfBatch),
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
  return { results: { near, far, batches }, failures: [] };
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

function row(name: string, times: LatencyHistogram, perSecond?: number): string[] {
  const rate = perSecond === undefined ? "" : Math.round(perSecond).toLocaleString("en");
  return [name, inMs(times.percentile(50)), inMs(times.percentile(99)), rate];
}

function inMs(ms: number): string {
  return ms.toLocaleString("en", { maximumSignificantDigits: ms < 100 ? 2 : 4 });
}
