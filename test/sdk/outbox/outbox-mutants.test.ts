import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type * as Sqlite from "../../../sdk/outbox/sqlite.ts";
import { ModuleGraph } from "../../mutants/module-graph.ts";
import { type DatabaseUnderTest, describeOutbox } from "./outbox-contract.ts";
import { type OutboxMutant, outboxMutants } from "./outbox-mutants.ts";
import { sqliteTransaction } from "./sqlite-transaction.ts";

const OUTBOX = "sdk/outbox/sqlite.ts";

let graph: ModuleGraph;
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

/** The tests of the contract by their titles. */
const contract = new Map<string, () => Promise<void>>();
describeOutbox(database, {
  describe: (_, define) => define(),
  test: Object.assign((name: string, run: () => Promise<void>) => void contract.set(name, run), {
    each: () => () => undefined,
  }),
});

beforeAll(async () => {
  graph = await ModuleGraph.load([OUTBOX]);
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-outbox-"));
  connections = [];
});
afterEach(() => {
  for (const connection of connections) connection.close();
  rmSync(folder, { recursive: true });
});

async function mutate({ file, from, to }: Pick<OutboxMutant, "file" | "from" | "to">): Promise<void> {
  const pieces = graph.textOf(file)?.split(from) ?? [];
  expect(pieces, `${file} has this text once: ${from}`).toHaveLength(2);
  const modules = await graph.instantiate({ path: file, text: pieces.join(to) });
  outboxUnderTest = modules(OUTBOX) as typeof Sqlite;
}

describe("a wrong rule of the outbox is found", () => {
  test.each(outboxMutants.map((mutant) => ({ ...mutant, mutant })))("$name", async ({ reddens, mutant }) => {
    const run = contract.get(reddens);
    if (run === undefined) throw new Error(`the contract has no test "${reddens}"`);
    await mutate(mutant);
    const red = await run().then(
      () => null,
      (error: unknown) => error,
    );
    expect(red, `the mutant survived the test "${reddens}"`).not.toBeNull();
    // A mutant must make a rule wrong, not make the code crash.
    expect(red).not.toBeInstanceOf(ReferenceError);
    expect(red).not.toBeInstanceOf(SyntaxError);
  });

  test("a mutant that changes nothing would survive", async () => {
    for (const { reddens, ...mutant } of [outboxMutants[0]!, outboxMutants.at(-1)!]) {
      await mutate({ ...mutant, to: mutant.from });
      await contract.get(reddens)!();
    }
  });
});
