import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type * as Sqlite from "../../../sdk/outbox/sqlite.ts";
import { ENTRIES } from "../../mutants/entries.ts";
import { type Check, findersOf } from "../../mutants/finder.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { type DatabaseUnderTest, describeOutbox } from "./outbox-contract.ts";
import { sqliteTransaction } from "./sqlite-transaction.ts";

let folder: string;
let connections: DatabaseSync[];
let outboxUnderTest: typeof Sqlite;

/** An outbox of the modules under test in `node:sqlite`, as the contract wants it. */
const database: DatabaseUnderTest = {
  async open(options) {
    const connection = new DatabaseSync(join(folder, "site.sqlite"));
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
    connections.push(connection);
    const outbox = outboxUnderTest.createOutbox({ database: connection, ...options });
    outbox.createTable();
    return {
      enqueue: async (...purges) =>
        sqliteTransaction(connection, "COMMIT", () => purges.map((purge) => outbox.enqueue(connection, ...purge))),
      enqueueAndRollBack: async (purge) =>
        void sqliteTransaction(connection, "ROLLBACK", () => outbox.enqueue(connection, purge)),
      drain: outbox.drain,
      list: async (listed) => outbox.list(listed),
      requeue: async (ids) => outbox.requeue(ids),
      discard: async (ids) => outbox.discard(ids),
      close: outbox.close,
    };
  },
  async reset() {
    throw new Error("no mutant is for the test that draws its steps");
  },
};

const checks: [name: string, check: Check][] = [];
describeOutbox(database, {
  describe: (_, define) => define(),
  test: Object.assign((name: string, run: () => Promise<void>) => void checks.push([name, onNewDatabase(run)]), {
    each: () => () => undefined,
  }),
});

/** The tests of the outbox's contract by their titles. */
export const outboxFinders = findersOf(ENTRIES.outbox, checks);

function onNewDatabase(run: () => Promise<void>): Check {
  return async (modules) => {
    folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-outbox-"));
    connections = [];
    outboxUnderTest = modules(ENTRIES.outbox[0]) as typeof Sqlite;
    try {
      await run();
    } finally {
      for (const connection of connections) connection.close();
      rmSync(folder, { recursive: true });
    }
  };
}
