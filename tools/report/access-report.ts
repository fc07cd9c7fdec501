import type { Budget, BudgetOutcome } from "../counting/budget-trial.ts";
import type { ParameterReport } from "../counting/parameters.ts";
import type { SearchReport } from "../counting/search-counts.ts";
import type { CostReport } from "./cost.ts";

/** What a cache would do for a site, by logs from a time without it. All counts of misses and hits are estimates. */
export interface AccessReport {
  readonly version: 1;
  /** The logs: how much of them was read, and their faults. */
  readonly logs: {
    readonly files: readonly string[];
    readonly lines: number;
    readonly broken: number;
    /** The broken lines that are requests at an impossible time. */
    readonly misdated: number;
    /** Answers of the edge that wrote the log, to requests that are none of the site's. They do not count. */
    readonly own: number;
    /**
     * True if most lines name no host, so that pages of several hosts count as one. Those who look for an open proxy
     * name one in any log.
     */
    readonly lacksHosts: boolean;
    readonly examples: readonly { readonly file: string; readonly line: number; readonly text: string }[];
    readonly cutOff: readonly string[];
    /** Lines that are older than an earlier one. */
    readonly outOfOrder: number;
    /** The lines of these that came too late to be sorted. */
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
  /** The lifetime in seconds that applies to all figures without their own. */
  readonly lifetimeSeconds: number;
  readonly prediction: Prediction;
  /** By lifetime, with memory for everything. */
  readonly lifetimes: readonly { readonly seconds: number; readonly hitRatio: number }[];
  /** By memory, under the chosen lifetime. */
  readonly memory: readonly { readonly bytes: number; readonly hitRatio: number }[];
  readonly routes: readonly RouteReport[];
  /** By hour of the day, UTC. */
  readonly hours: readonly { readonly hour: number; readonly requests: number; readonly misses: number }[];
  /** The busiest hour, and its requests that reach the origin. */
  readonly busiestHour: { readonly from: string; readonly requests: number; readonly misses: number } | null;
  readonly parameters: readonly ParameterReport[];
  /** Visitors' searches by the length of the query; `null` if the log has no search parameter. */
  readonly searches: SearchReport | null;
  /** The pages that are requested most often, without those whose URLs have a secret. */
  readonly warm: readonly { readonly url: string; readonly requests: number }[];
  /** The results that a cache wrote into the log; `null` if none did. */
  readonly loggedCache: { readonly requests: number; readonly hitRatio: number } | null;
  readonly cost: CostReport;
  /** The effect of a budget for the origin on the misses. Absent if none was requested. */
  readonly budget?: BudgetReport;
  /** The site config that the prediction is for. */
  readonly config: string;
}

export type BudgetReport = Budget & BudgetOutcome;

export interface Totals {
  readonly all: number;
  /** GET and HEAD. */
  readonly readable: number;
  /** Neither GET nor HEAD: they always reach the origin. */
  readonly unsafe: number;
  /** Lines that are not about HTTP requests. */
  readonly notHttp: number;
  /** Calls that remove a page from a cache, which are not among the requests. */
  readonly purges: number;
  readonly bytes: number;
  readonly byCrawlers: number;
  readonly byStatus: Readonly<Record<string, number>>;
}

export interface Prediction {
  /** The share of all requests that would not reach the origin. */
  readonly hitRatio: number;
  /**
   * The margin of the estimate: in 95 of 100 logs, a full count would give a ratio within it. 0 if every page was
   * counted.
   */
  readonly marginOfSampling: number;
  /** The same without the rules for keys: each spelling of a query is a separate page. */
  readonly hitRatioWithoutKeyRules: number;
  readonly hits: number;
  readonly sparedBytes: number;
  readonly sparedPerHour: number;
  /** Only for crawlers' requests. */
  readonly crawlerHitRatio: number;
}

export interface RouteReport {
  readonly path: string;
  readonly requests: number;
  readonly share: number;
  readonly hitRatio: number;
  readonly bytes: number;
  /** The reason why the config leaves the route to the origin, if it does. Its requests then count as misses. */
  readonly passBecause: string | null;
}
