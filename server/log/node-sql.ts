import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Sql } from "../../worker/purges/log/sql.ts";

/** Node's SQLite with the interface that the log needs. */
export function sqlOver(database: DatabaseSync): Sql {
  const prepared = new Map<string, StatementSync>();
  const prepare = (statement: string) => {
    const one = prepared.get(statement) ?? database.prepare(statement);
    prepared.set(statement, one);
    return one;
  };
  return {
    exec: <Row extends object>(statement: string, ...bindings: (string | number | null)[]) =>
      prepare(statement).all(...bindings) as Row[],
    iterate: <Row extends object>(statement: string, ...bindings: (string | number | null)[]) =>
      prepare(statement).iterate(...bindings) as Iterable<Row>,
    transaction: (work) => {
      prepare("SAVEPOINT work").run();
      try {
        const result = work();
        prepare("RELEASE work").run();
        return result;
      } catch (cause) {
        // After some errors, such as a full disk, SQLite has already rolled back.
        if (database.isTransaction) database.exec("ROLLBACK TO work; RELEASE work");
        throw cause;
      }
    },
  };
}
