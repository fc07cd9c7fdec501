/** SQLite as the log needs it: the Durable Object's own, or any other with the same two calls. */
export interface Sql {
  exec(statement: string, ...bindings: (string | number | null)[]): Record<string, unknown>[];
  /** Runs all or nothing: an exception undoes every statement. */
  transaction<T>(work: () => T): T;
}
