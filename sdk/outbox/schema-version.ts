/** The version of the tables that this package reads and writes. */
export const SCHEMA_VERSION = 2;

/** The statements that bring tables of each earlier version to the next one. */
export const MIGRATIONS: Readonly<Record<number, string>> = {
  1: `ALTER TABLE tidemark_outbox ADD COLUMN failure_scope TEXT;
UPDATE tidemark_outbox_schema SET version = 2;`,
};

/**
 * The error for tables of another version, with the statement that corrects it; `null` if the version is right. `found`
 * is the version in the database, or `null` if there are no tables.
 */
export function schemaError(
  found: number | null,
  createStatement: string,
  wanted: number = SCHEMA_VERSION,
  migrations: Readonly<Record<number, string>> = MIGRATIONS,
): Error | null {
  if (found === wanted) return null;
  if (found === null) {
    return new Error(
      `The database has no table tidemark_outbox. Call createTable() of the outbox, or run:\n\n${createStatement}`,
    );
  }
  if (found > wanted) {
    return new Error(
      `The table tidemark_outbox has version ${found}, and this version of the package knows ${wanted}. Update the package.`,
    );
  }
  const steps = Array.from({ length: wanted - found }, (_, index) => migrations[found + index]);
  if (steps.includes(undefined)) {
    return new Error(
      `The table tidemark_outbox has version ${found}, which no version of the package writes. Drop the tables ` +
        `tidemark_outbox and tidemark_outbox_schema once nothing in them is needed, and run:\n\n${createStatement}`,
    );
  }
  return new Error(
    `The table tidemark_outbox has version ${found}, and this version of the package needs ${wanted}. Run:\n\n${steps.join("\n")}`,
  );
}
