import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import BetterSqlite3 from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HALF_ACCEPTED_ROWS, MAX_SCANNED_ROWS, orderedPage } from "../../../sdk/outbox/claims.ts";
import { createOutbox, type SqliteDatabase, type SqliteOutbox, TABLE_SQL } from "../../../sdk/outbox/sqlite.ts";
import { byDepth } from "../../suite/depth.ts";
import { describeOutbox, type OutboxUnderTest } from "./outbox-contract.ts";
import { accepts, createScriptedPurger, heldUp } from "./scripted-purger.ts";
import { sqliteTransaction } from "./sqlite-transaction.ts";

type Connection = SqliteDatabase & { close(): unknown };

const CLIENTS: { name: string; connect: (file: string) => Connection; tags?: string[] }[] = [
  { name: "node:sqlite", connect: (file) => new DatabaseSync(file) },
  {
    name: "node:sqlite with rows as arrays, and with BigInt",
    connect: (file) => new DatabaseSync(file, { returnArrays: true, readBigInts: true }),
    tags: ["deep"],
  },
  { name: "better-sqlite3", connect: (file) => new BetterSqlite3(file), tags: ["deep"] },
  {
    name: "better-sqlite3 with BigInt",
    connect: (file) => new BetterSqlite3(file).defaultSafeIntegers(true),
    tags: ["deep"],
  },
];

const PROCESSES = byDepth({ test: 2, gate: 2, all: 4 });

let folder: string;
let file: string;
let connections: Connection[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-outbox-"));
  file = join(folder, "site.sqlite");
  connections = [];
});

afterEach(() => {
  closeAll();
  rmSync(folder, { recursive: true });
});

function connect(open: (file: string) => Connection = (file) => new DatabaseSync(file)): Connection {
  const connection = open(file);
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  connections.push(connection);
  return connection;
}

function busyTimeoutOf(connection: SqliteDatabase): unknown {
  return Object.values(connection.prepare("PRAGMA busy_timeout").get() as object)[0];
}

function closeAll(): void {
  for (const connection of connections.splice(0)) connection.close();
}

function underTest(outbox: SqliteOutbox<string>, connection: SqliteDatabase): OutboxUnderTest {
  return {
    enqueue: async (...purges) =>
      sqliteTransaction(connection, "COMMIT", async () => purges.map((purge) => outbox.enqueue(connection, ...purge))),
    enqueueAndRollBack: async (purge) => {
      sqliteTransaction(connection, "ROLLBACK", () => outbox.enqueue(connection, purge));
    },
    drain: outbox.drain,
    list: async (options) => outbox.list(options),
    requeue: async (ids) => outbox.requeue(ids),
    discard: async (ids) => outbox.discard(ids),
    close: outbox.close,
  };
}

for (const { name, connect: open, tags = [] } of CLIENTS) {
  describe(name, { tags }, () => {
    describeOutbox({
      async open(options) {
        const connection = connect(open);
        const outbox = createOutbox({ database: connection, ...options });
        outbox.createTable();
        return underTest(outbox, connection);
      },
      async reset() {
        closeAll();
        const connection = open(file);
        connection.exec("DROP TABLE IF EXISTS tidemark_outbox; DROP TABLE IF EXISTS tidemark_outbox_schema");
        connection.close();
      },
    });
  });
}

describe("one connection for everything", () => {
  function opened(): {
    connection: Connection;
    outbox: SqliteOutbox<string>;
    purger: ReturnType<typeof createScriptedPurger>;
  } {
    const connection = connect();
    const purger = createScriptedPurger();
    const outbox = createOutbox({ database: connection, purger });
    outbox.createTable();
    return { connection, outbox, purger };
  }

  test("enqueue outside a transaction is refused, and so is drain inside one", async () => {
    const { connection, outbox, purger } = opened();
    expect(() => outbox.enqueue(connection, { tags: ["a"] })).toThrow(/^enqueue: no transaction is open/);
    connection.exec("BEGIN");
    outbox.enqueue(connection, { tags: ["a"] });
    await expect(outbox.drain()).rejects.toThrow(/^drain: a transaction is open/);
    connection.exec("ROLLBACK");
    await outbox.drain();
    expect(purger.requests).toEqual([]);
  });

  test("the row is deleted after the transaction that was open when the receipt came, and not in it", async () => {
    const { connection, outbox, purger } = opened();
    const slow = heldUp();
    purger.answer = slow.answer;
    sqliteTransaction(connection, "COMMIT", () => outbox.enqueue(connection, { tags: ["a"] }));
    const draining = outbox.drain();
    await slow.arrived;
    connection.exec("BEGIN");
    outbox.enqueue(connection, { tags: ["b"] });
    purger.answer = accepts;
    slow.end(accepts);
    await Promise.all(Array.from({ length: 20 }, () => new Promise(setImmediate)));
    expect(purger.tags).toEqual(["a"]);
    connection.exec("ROLLBACK");
    expect((await draining).sent).toHaveLength(1);
    expect(outbox.list()).toEqual([]);
    expect(purger.tags).toEqual(["a"]);
  });

  test.each(["node:sqlite", "better-sqlite3"])(
    "a write lock of another connection is waited for without blocking the process: %s",
    async (client) => {
      const open = CLIENTS.find(({ name }) => name === client)?.connect;
      const [connection, other] = [connect(open), connect(open)];
      connection.exec("PRAGMA busy_timeout = 6000");
      const outbox = createOutbox({ database: connection, purger: createScriptedPurger() });
      outbox.createTable();
      sqliteTransaction(connection, "COMMIT", () => outbox.enqueue(connection, { tags: ["a"] }));
      other.exec("BEGIN IMMEDIATE");
      const draining = outbox.drain();
      await new Promise(setImmediate);
      expect(busyTimeoutOf(connection)).toBe(6_000);
      other.exec("COMMIT");
      expect((await draining).sent).toHaveLength(1);
      expect(busyTimeoutOf(connection)).toBe(6_000);

      connection.exec("ALTER TABLE tidemark_outbox RENAME TO hidden");
      await expect(outbox.drain()).rejects.toThrow("no such table");
      expect(busyTimeoutOf(connection)).toBe(6_000);
    },
  );
});

describe("the table", () => {
  const outboxOf = (connection: Connection) => createOutbox({ database: connection, purger: createScriptedPurger() });

  test("is created once, and by its statement in a migration", async () => {
    const connection = connect();
    connection.exec(TABLE_SQL);
    const outbox = outboxOf(connection);
    outbox.createTable();
    outbox.createTable();
    expect(outbox.list()).toEqual([]);
    const { n } = connection.prepare("SELECT count(*) AS n FROM tidemark_outbox_schema").get() as { n: number };
    expect(n).toBe(1);
  });

  test("is created, and its purges are requeued and discarded, with a wait for locks of five seconds", () => {
    const connection = connect();
    const waits: unknown[] = [];
    const noteWait = () => waits.push(busyTimeoutOf(connection));
    const outbox = createOutbox({
      database: {
        exec(sql) {
          if (sql.includes("CREATE TABLE")) noteWait();
          connection.exec(sql);
        },
        prepare(sql) {
          if (/^(UPDATE|DELETE)/.test(sql)) noteWait();
          return connection.prepare(sql);
        },
      },
      purger: createScriptedPurger(),
    });
    connection.exec("PRAGMA busy_timeout = 7");
    outbox.createTable();
    outbox.requeue();
    outbox.discard(["a"]);
    expect(waits).toEqual([5_000, 5_000, 5_000]);
    noteWait();
    expect(waits.at(-1)).toBe(7);
  });

  test("may have more purges that some edges have accepted than a claim reads", async () => {
    const connection = connect();
    const purger = createScriptedPurger();
    const outbox = createOutbox({ database: connection, purger });
    outbox.createTable();
    sqliteTransaction(connection, "COMMIT", () => {
      // Written as enqueue writes the first one, which would take seconds for all of them.
      outbox.enqueue(connection, { tags: ["old"] });
      connection.exec(`WITH RECURSIVE copy (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM copy WHERE n < ${MAX_SCANNED_ROWS})
        INSERT INTO tidemark_outbox (id, request) SELECT 'old-' || n, request FROM copy, tidemark_outbox;
        UPDATE tidemark_outbox SET failures = 1, failure_scope = 'some-edges', due_at = ${Date.now() + 60_000}`);
      outbox.enqueue(connection, { tags: ["new"] });
    });
    const { nextDueInMs } = await outbox.drain();
    expect([purger.tags, nextDueInMs! > 30_000]).toEqual([["new"], true]);
  });

  test("is never read or sorted as a whole by a claim", () => {
    const connection = connect();
    outboxOf(connection).createTable();
    const steps = [HALF_ACCEPTED_ROWS, orderedPage("?")].flatMap((query) =>
      connection.prepare(`EXPLAIN QUERY PLAN ${query}`).all(...(query.includes("?") ? [0] : [])),
    );
    expect(steps.map((step) => (step as { detail: string }).detail)).toEqual([
      "SCAN tidemark_outbox USING INDEX tidemark_outbox_half_accepted",
      "SEARCH tidemark_outbox USING INDEX tidemark_outbox_ordered (seq>?)",
    ]);
  });

  test("is asked for, with its statement, if it is missing", async () => {
    const connection = connect();
    const outbox = outboxOf(connection);
    const missing = /has no table tidemark_outbox\..*CREATE TABLE IF NOT EXISTS tidemark_outbox \(/s;
    await expect(outbox.drain()).rejects.toThrow(missing);
    expect(() => outbox.list()).toThrow(missing);
    expect(() => sqliteTransaction(connection, "COMMIT", () => outbox.enqueue(connection, { tags: ["a"] }))).toThrow(
      missing,
    );
  });

  test("of version 1 is usable after the statements that its refusal names", async () => {
    const connection = connect();
    const first = TABLE_SQL.replace("  failure_scope TEXT,\n", "")
      .replace("SELECT 2 WHERE", "SELECT 1 WHERE")
      .replaceAll(/CREATE INDEX[^;]*;/g, "");
    connection.exec(first);
    const outbox = outboxOf(connection);
    const refusal = await outbox.drain().catch((error: Error) => error.message);
    connection.exec(String(refusal).split("Run:\n\n")[1]!);
    expect((await outbox.drain()).sent).toEqual([]);
  });

  test.each([0, 1, 3])("is refused in version %i", async (version) => {
    const connection = connect();
    connection.exec(`${TABLE_SQL} UPDATE tidemark_outbox_schema SET version = ${version}`);
    const outbox = outboxOf(connection);
    expect(() => outbox.createTable()).toThrow(`The table tidemark_outbox has version ${version}`);
    await expect(outbox.drain()).rejects.toThrow(`The table tidemark_outbox has version ${version}`);
    expect(() => outbox.requeue()).toThrow(`The table tidemark_outbox has version ${version}`);
  });
});

test(`${PROCESSES} processes that drain one file at once send each purge once, those of a tag in their order`, {
  tags: ["gate"],
}, async () => {
  const connection = connect();
  const outbox = createOutbox({ database: connection, purger: createScriptedPurger() });
  outbox.createTable();
  const ids = sqliteTransaction(connection, "COMMIT", () =>
    Array.from({ length: 200 }, (_, index) => outbox.enqueue(connection, { tags: [`t${index % 40}`] })),
  );
  const child = fileURLToPath(new URL("./draining-process.ts", import.meta.url));
  const children = Array.from({ length: PROCESSES }, () => fork(child, [file]));
  const sent: { id: string; tag: string }[] = [];
  for (const each of children) each.on("message", (message) => sent.push(message as { id: string; tag: string }));
  // They wait for each other, so that all of them drain at the same time.
  await Promise.all(children.map((each) => once(each, "message")));
  sent.length = 0;
  for (const each of children) each.send("drain");
  const exits = await Promise.all(children.map((each) => once(each, "exit")));
  expect(exits.map(([code]) => code)).toEqual(Array(PROCESSES).fill(0));
  // A process ends when nothing is left for it: what others were sending then, or what lay behind that, is left to them.
  await createOutbox({
    database: connection,
    purger: { purge: async ({ id, tags }) => sent.push({ id: id!, tag: tags![0]! }) },
  }).drain();
  expect(sent.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(outbox.list()).toEqual([]);
});
