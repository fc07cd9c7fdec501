import type { MachineStats } from "../../wire/machine-stats.ts";
import type { CountTree } from "./count-tree.ts";
import type { TopLists } from "./counters.ts";
import type { MetricFamily } from "./metric-family.ts";

/** The isolates behind the counts, and which share of their time the ledger has heard of. */
export type LedgerIsolates = {
  /** The isolates that have reported. */
  readonly reported: number;
  /** How many of them have fallen silent without a last report. */
  readonly silent: number;
  /** The isolates that have reported within two minutes, and the bytes in their memories. */
  readonly alive: number;
  readonly memoryBytes: number;
  readonly memoryMaxBytes: number;
  /** The time that reports cover, and the most that isolates can have kept to themselves. */
  readonly heardMs: number;
  readonly unheardMs: number;
  readonly heardShare: number;
};

/** The ledger of a time, as `SqlLedger.read` gives it. */
export interface LedgerReading {
  readonly from: number;
  readonly to: number;
  /** The parts of the time in order, those in which nothing was counted left out; none since the ledger began. */
  readonly spanMs: number;
  readonly spans: readonly { readonly at: number; readonly counts: CountTree }[];
  readonly isolates: LedgerIsolates;
  readonly counts: CountTree;
  /** Counted only for the whole site. */
  readonly routes: CountTree;
  readonly top: TopLists | null;
  readonly pops: Readonly<Record<string, CountTree>>;
  /** What the platform adds: whether all isolates have reported for it, and their machine, as stats and as metrics. */
  readonly isCurrent?: true;
  readonly machine?: MachineStats;
  readonly metrics?: readonly MetricFamily[];
}
