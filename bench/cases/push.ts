import { ROUND_TRIPS } from "../../local/cdn/latency.ts";
import { type Case, count } from "../frame/case.ts";
import { printTable } from "../frame/table.ts";
import { type PurgeWorld, simulatePurges } from "../simulated-pop/purge-simulation.ts";
import { lateFailures, PURGE_COLUMNS, purgeCells } from "../simulated-pop/purge-times.ts";

const ROWS: readonly (Pick<PurgeWorld, "isolates" | "rate" | "push" | "restartEveryMs"> & { mostPurges?: number })[] = [
  { isolates: 1, rate: 10, push: false },
  { isolates: 1, rate: 10, push: true },
  { isolates: 3, rate: 10, push: false },
  { isolates: 3, rate: 10, push: true },
  { isolates: 1, rate: 1, push: true },
  { isolates: 3, rate: 10, push: true, restartEveryMs: 20_000 },
  { isolates: 100, rate: 0.5, push: true, mostPurges: 20 },
];

export const push: Case<{ readonly purges: number }> = {
  name: "push",
  description:
    "How soon all isolates see a purge that the log pushes, how soon its receipt settles, and how often the log is asked.",
  options: [count("--purges", "purges for each row", 300)],
  needs: [],
  async measure({ purges }) {
    const pops = Object.keys(ROUND_TRIPS).length;
    const rows = [];
    for (const { mostPurges = purges, ...row } of ROWS) {
      const restarts = row.restartEveryMs ? `, a log that restarts every ${row.restartEveryMs / 1000} s` : "";
      const name = `${row.isolates} isolates a PoP, ${row.rate}/s each, ${row.push ? "pushed" : "read"}${restarts}`;
      const world = { ...row, pops, purges: Math.min(purges, mostPurges), betweenPurgesMs: 2000 };
      rows.push({ name, ...row, ...(await simulatePurges(world)) });
    }
    printTable(
      ["seven cities", ...PURGE_COLUMNS, "billed/s and PoP"],
      rows.map((row) => [row.name, ...purgeCells(row), (row.billedPerSecond / pops).toFixed(3)]),
    );
    return { results: { rows }, failures: lateFailures(rows) };
  },
};
