import type { LogStorage } from "../../../worker/purges/log/log-storage.ts";

/** One call of a log in the Workers runtime. */
export interface LogCall {
  /** The name of the log's object. */
  readonly log: string;
  /** Its time: epoch milliseconds. */
  readonly now: number;
  readonly call: keyof LogStorage | "report" | "readLedger" | "join" | "confirm" | "leave" | "restart";
  readonly parameters: readonly unknown[];
}
