import { type Case, count } from "../frame/case.ts";
import { printTable } from "../frame/table.ts";
import { type PurgeWorld, simulatePurges } from "../simulated-pop/purge-simulation.ts";
import { lateFailures, PURGE_COLUMNS, purgeCells } from "../simulated-pop/purge-times.ts";

const ROWS: readonly (Pick<PurgeWorld, "push" | "relays" | "endsEveryMs"> & { readonly name: string })[] = [
  { name: "read", push: false },
  { name: "pushed, without relays", push: true },
  { name: "pushed over 14 relays", push: true, relays: 2 },
  { name: "the same, and an isolate ends without a word every 10 s", push: true, relays: 2, endsEveryMs: 10_000 },
];

interface RelaysOptions {
  readonly pops: number;
  readonly isolates: number;
  readonly purges: number;
}

export const relays: Case<RelaysOptions> = {
  name: "relays",
  description:
    "How soon thousands of isolates see a purge and its receipt settles, with relays of the log and without.",
  options: [
    count("--pops", "PoPs, in seven regions", 300),
    count("--isolates", "isolates of each PoP, with a request a second each", 30),
    count("--purges", "purges for each row", 10),
  ],
  needs: [],
  async measure(options) {
    const rows = [];
    for (const { name, ...row } of ROWS) {
      rows.push({ name, ...(await simulatePurges({ ...options, ...row, rate: 1, betweenPurgesMs: 4000 })) });
    }
    printTable(
      [
        `${options.pops} PoPs, ${options.isolates} isolates each`,
        ...PURGE_COLUMNS,
        ...["messages/s at the log", "at a relay", "billed requests/day"],
      ],
      rows.map((row) => [
        row.name,
        ...purgeCells(row),
        row.logMessagesPerSecond.toFixed(0),
        row.relayMessagesPerSecond.toFixed(0),
        `${((row.billedPerSecond * 86_400) / 1e6).toFixed(1)} million`,
      ]),
    );
    return { results: { rows }, failures: lateFailures(rows) };
  },
};
