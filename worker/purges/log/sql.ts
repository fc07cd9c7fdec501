/** The part of SQLite that the log uses: that of the Durable Object, or any other with the same two calls. */
export interface Sql {
  exec(statement: string, ...bindings: (string | number | null)[]): Record<string, unknown>[];
  /** Runs all of it or nothing: an exception undoes every statement. */
  transaction<T>(work: () => T): T;
}
