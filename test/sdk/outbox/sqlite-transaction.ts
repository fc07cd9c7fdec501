import type { SqliteDatabase } from "../../../sdk/outbox/sqlite.ts";

/** Does work in a transaction that is then committed or rolled back; rolled back if the work fails. */
export function sqliteTransaction<T>(connection: SqliteDatabase, end: "COMMIT" | "ROLLBACK", work: () => T): T {
  connection.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    connection.exec(end);
    return result;
  } catch (error) {
    connection.exec("ROLLBACK");
    throw error;
  }
}
