/** The part of SQLite that the log uses: that of the Durable Object, or any other with the same two calls. */
export interface Sql {
  /** `Row`: the columns of the result, which the statement alone can tell. */
  exec<Row extends object = Record<string, unknown>>(statement: string, ...bindings: (string | number | null)[]): Row[];
  /** Runs all of it or nothing: an exception undoes every statement. */
  transaction<T>(work: () => T): T;
}
