/** The part of SQLite that the log uses: that of the Durable Object, or any other with the same three calls. */
export interface Sql {
  /** `Row`: the columns of the result, which the statement alone can tell. */
  exec<Row extends object = Record<string, unknown>>(statement: string, ...bindings: (string | number | null)[]): Row[];
  /** The same, but each row is read when it is asked for. Until the last one, nothing may write. */
  iterate<Row extends object>(statement: string, ...bindings: (string | number | null)[]): Iterable<Row>;
  /** Runs all of it or nothing: an exception undoes every statement. */
  transaction<T>(work: () => T): T;
}
