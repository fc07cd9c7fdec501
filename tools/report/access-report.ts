import type { Budget, BudgetOutcome } from "../counting/budget-trial.ts";
import type { ParameterReport } from "../counting/parameters.ts";
import type { SearchReport } from "../counting/search-counts.ts";
import type { CostReport } from "./cost.ts";

/** What a cache would do for a site, by the logs of a time without it. All counts of misses and hits are estimates. */
export interface AccessReport {
  readonly version: 1;
  /** The logs: how much of them was read, and what was wrong with them. */
  readonly logs: {
    readonly files: readonly string[];
    readonly lines: number;
    readonly broken: number;
    readonly examples: readonly { readonly file: string; readonly line: number; readonly text: string }[];
    readonly cutOff: readonly string[];
    /** Lines that are older than one before them. */
    readonly outOfOrder: number;
    /** Those of them that came too late to be put in order. */
    readonly late: number;
    /** True if the reading was interrupted, so that the report is of its beginning. */
    readonly interrupted: boolean;
  };
  /** When the first and the last request were logged, ISO 8601; `null` without any. */
  readonly from: string | null;
  readonly to: string | null;
  readonly requests: Totals;
  /** Pages by their keys, with and without the rules for keys. */
  readonly keys: { readonly withRules: number; readonly withoutRules: number };
  /** The lifetime that all that has none of its own is told for, in seconds. */
  readonly lifetimeSeconds: number;
  readonly prediction: Prediction;
  /** By lifetime, with memory for everything. */
  readonly lifetimes: readonly { readonly seconds: number; readonly hitRatio: number }[];
  /** By memory, under the chosen lifetime. */
  readonly memory: readonly { readonly bytes: number; readonly hitRatio: number }[];
  readonly routes: readonly RouteReport[];
  /** By hour of the day, UTC. */
  readonly hours: readonly { readonly hour: number; readonly requests: number; readonly misses: number }[];
  /** The busiest hour, and what reaches the origin then. */
  readonly busiestHour: { readonly from: string; readonly requests: number; readonly misses: number } | null;
  readonly parameters: readonly ParameterReport[];
  /** What visitors type, by the length of their queries; `null` if the log has no parameter of a search. */
  readonly searches: SearchReport | null;
  /** The pages that are requested most often. */
  readonly warm: readonly { readonly url: string; readonly requests: number }[];
  /** What a cache that wrote the log said itself; `null` if none did. */
  readonly loggedCache: { readonly requests: number; readonly hitRatio: number } | null;
  readonly cost: CostReport;
  /** What a budget for the origin would have done to the misses. Absent if none was asked for. */
  readonly budget?: BudgetReport;
  /** The site config that the prediction is for. */
  readonly config: string;
}

export type BudgetReport = Budget & BudgetOutcome;

export interface Totals {
  readonly all: number;
  /** GET and HEAD. */
  readonly readable: number;
  /** Neither: they always reach the origin. */
  readonly unsafe: number;
  /** Lines that tell of something else than HTTP. */
  readonly notHttp: number;
  readonly bytes: number;
  readonly byCrawlers: number;
  readonly byStatus: Readonly<Record<string, number>>;
}

export interface Prediction {
  /** The share of all requests that would not reach the origin. */
  readonly hitRatio: number;
  /** It is within this of the ratio that a count of every page would give, in 95 of 100 logs; 0 if each was counted. */
  readonly marginOfSampling: number;
  /** The same without the rules for keys: each spelling of a query is a page of its own. */
  readonly hitRatioWithoutKeyRules: number;
  readonly hits: number;
  readonly sparedBytes: number;
  readonly sparedPerHour: number;
  /** Of the crawlers' requests alone. */
  readonly crawlerHitRatio: number;
}

export interface RouteReport {
  readonly path: string;
  readonly requests: number;
  readonly share: number;
  readonly hitRatio: number;
  readonly bytes: number;
  /** Set if the config leaves the route to the origin, with the reason. Its requests then count as misses. */
  readonly passBecause: string | null;
}
