import { ROUND_TRIPS } from "../../local/cdn/latency.ts";
import { type Case, count } from "../frame/case.ts";
import { median } from "../frame/median.ts";
import { printTable } from "../frame/table.ts";
import { NOTE_READ_MS } from "../simulated-pop/simulated-lease.ts";
import { countPop, type PopSettings } from "../simulated-pop/simulated-pop.ts";

type Bound = Pick<PopSettings, "leaseMs" | "maxViewAgeMs" | "keepViewMs" | "push">;

const SIZES = [1, 4].flatMap((isolates) => [0.1, 1, 10].map((requestsPerSecond) => ({ isolates, requestsPerSecond })));
const LEASE: Bound = { leaseMs: 1000 };
/** Leases, and bounds of a route, for a PoP in Frankfurt. */
const BOUNDS: Readonly<Record<string, Bound>> = {
  "lease 1 s": LEASE,
  "lease 5 s": { leaseMs: 5000 },
  "lease 30 s": { leaseMs: 30_000 },
  "lease 1 s, maxViewAge 60 s": { leaseMs: 1000, maxViewAgeMs: 60_000 },
  "lease 1 s, maxViewAge 10 min": { leaseMs: 1000, maxViewAgeMs: 600_000 },
  "lease 1 s, view kept for 5 s": { leaseMs: 1000, keepViewMs: 5000 },
  "lease 1 s, view kept for 20 s": { leaseMs: 1000, keepViewMs: 20_000 },
  "lease 1 s, pushed, kept for 5 s": { leaseMs: 1000, keepViewMs: 5000, push: true },
  "lease 1 s, pushed, kept for 20 s": { leaseMs: 1000, keepViewMs: 20_000, push: true },
};
const SETTLES_AFTER_MS = 60_000;

export const quiet: Case<{ readonly requests: number }> = {
  name: "quiet",
  description:
    "How many requests of a quiet PoP wait for the purge log, and how long: real leases in a discrete-event simulation.",
  options: [count("--requests", "requests to count for each figure", 4000)],
  needs: [],
  async measure({ requests }) {
    const places = Object.entries(ROUND_TRIPS);
    const cities = places.map(([city, { logMs }]) => ({ name: `${city}, ${logMs} ms`, bound: LEASE, logMs }));
    const { logMs } = ROUND_TRIPS.fra!;
    const bounds = Object.entries(BOUNDS).map(([name, bound]) => ({ name, bound, logMs }));
    console.log("\nrequests that wait for the purge log, their median wait, and reads of the log");
    return {
      results: {
        cities: await table("a lease of 1 s", cities, requests),
        bounds: await table("fra, with longer bounds", bounds, requests),
      },
      failures: [],
    };
  },
};

async function table(
  title: string,
  settings: readonly { readonly name: string; readonly bound: Bound; readonly logMs: number }[],
  requests: number,
) {
  const rows = [];
  for (const { name, bound, logMs } of settings) {
    const waits: Awaited<ReturnType<typeof waitsOf>>[] = [];
    for (const size of SIZES) waits.push(await waitsOf({ ...bound, ...size, sharing: "shared" }, logMs, requests));
    rows.push({ name, waits });
  }
  console.log();
  printTable(
    [title, ...SIZES.map(({ isolates, requestsPerSecond }) => `${isolates} × ${requestsPerSecond}/s`)],
    rows.map(({ name, waits }) => [
      name,
      ...waits.map(
        ({ share, medianMs, readsPerSecond }) =>
          `${(share * 100).toFixed(1)} %, ${Math.round(medianMs)} ms (${readsPerSecond.toFixed(2)}/s)`,
      ),
    ]),
  );
  return rows;
}

/**
 * The share of requests, from 0 to 1, that wait for the log, or for the copy of an isolate that reads it. A wait for
 * the PoP's own notes does not count, because the page is looked up meanwhile.
 */
async function waitsOf(settings: PopSettings, logMs: number, requests: number) {
  const { isolates, requestsPerSecond } = settings;
  const settlesAfterMs = SETTLES_AFTER_MS * Math.max(1, isolates / requestsPerSecond);
  const counts = await countPop(settings, { logMs, settlesAfterMs, seconds: requests / requestsPerSecond });
  const forLog = counts.waitsMs.filter((ms) => ms > NOTE_READ_MS);
  return {
    share: forLog.length / counts.requests,
    medianMs: forLog.length === 0 ? 0 : median(forLog),
    readsPerSecond: counts.readsPerSecond,
  };
}
