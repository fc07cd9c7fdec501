/** One call of a log in the Workers runtime. */
export interface LogCall {
  /** The name of the log's object. */
  readonly log: string;
  /** Its time: epoch milliseconds. */
  readonly now: number;
  readonly call: "read" | "append" | "list" | "find" | "runDue" | "join" | "confirm" | "leave" | "restart";
  readonly parameters: readonly unknown[];
}
