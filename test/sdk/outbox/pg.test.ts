import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createOutbox, type PgDatabase, type PgOutbox, TABLE_SQL } from "../../../sdk/outbox/pg.ts";
import { describeOutbox, type OutboxUnderTest } from "./outbox-contract.ts";
import { noPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";
import { createScriptedPurger } from "./scripted-purger.ts";

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

describe.skipIf(noPostgres)("PostgreSQL", () => {
  let server: PostgresServer;
  let pool: pg.Pool;
  let clients: pg.Client[];

  beforeAll(async () => {
    server = await startPostgres();
    pool = new pg.Pool({ host: server.host, user: server.user, database: "postgres" });
  }, 60_000);

  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  beforeEach(async () => {
    clients = [];
    await dropTables();
  });

  afterEach(closeAll);

  async function dropTables(): Promise<void> {
    await pool.query("DROP TABLE IF EXISTS tidemark_outbox, tidemark_outbox_schema");
  }

  async function closeAll(): Promise<void> {
    await Promise.all(clients.splice(0).map((client) => client.end()));
  }

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ host: server.host, user: server.user, database: "postgres" });
    clients.push(client);
    await client.connect();
    return client;
  }

  async function transaction<T>(end: "COMMIT" | "ROLLBACK", work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query(end);
      return result;
    } catch (error) {
      await client.query("ROLLBACK");
      throw error;
    } finally {
      client.release();
    }
  }

  function underTest(outbox: PgOutbox<string>): OutboxUnderTest {
    return {
      async enqueue(...purges) {
        const ids: string[] = [];
        const enqueued = await transaction("COMMIT", async (client) => {
          try {
            for (const purge of purges) ids.push(await outbox.enqueue(client, ...purge));
          } catch (error) {
            return { error };
          }
        });
        if (enqueued) throw enqueued.error;
        return ids;
      },
      async enqueueAndRollBack(purge) {
        await transaction("ROLLBACK", (client) => outbox.enqueue(client, purge));
      },
      drain: outbox.drain,
      list: outbox.list,
      requeue: outbox.requeue,
      discard: outbox.discard,
      close: outbox.close,
    };
  }

  const VARIANTS: { name: string; database: () => Promise<PgDatabase>; tags: string[] }[] = [
    { name: "over a pool", database: async () => pool, tags: [] },
    { name: "over a client", database: connect, tags: ["deep"] },
  ];
  for (const { name, database, tags } of VARIANTS) {
    describe(name, { tags }, () => {
      describeOutbox({
        async open(options) {
          const outbox = createOutbox({ database: await database(), ...options });
          await outbox.createTable();
          return underTest(outbox);
        },
        async reset() {
          await closeAll();
          await dropTables();
        },
      });
    });
  }

  const outboxOf = (database: PgDatabase) => createOutbox({ database, purger: createScriptedPurger() });

  test("enqueue refuses the pool, and a client without a transaction", async () => {
    const outbox = outboxOf(pool);
    await outbox.createTable();
    await expect(outbox.enqueue(pool, { tags: ["a"] })).rejects.toThrow(/^enqueue: this is a pool/);
    await expect(outbox.enqueue(await connect(), { tags: ["a"] })).rejects.toThrow(/^enqueue: no transaction is open/);
    expect(await outbox.list()).toEqual([]);
  });

  const others = [
    ["has no query", () => ({})],
    [
      "has a query for its rows",
      (client: pg.Client) => ({
        query: async (text: string, values?: unknown[]) => (await client.query(text, values)).rows,
      }),
    ],
  ] as const;
  test.each(others)("an object of another library that %s is refused, with what to take of that", async (_, other) => {
    const refusal = /^The outbox needs an object with the query of pg, .* TypeORM has it as .* Knex as .* Drizzle as /;
    const refused = async (work: () => Promise<unknown>) => {
      const error = await work().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(TypeError);
      expect((error as TypeError).message).toMatch(refusal);
    };
    const client = await connect();
    const wrong = other(client) as PgDatabase;
    await refused(() => outboxOf(wrong).createTable());
    await refused(() => outboxOf(wrong).drain());
    const outbox = outboxOf(pool);
    await outbox.createTable();
    await client.query("BEGIN");
    await refused(() => outbox.enqueue(wrong, { tags: ["a"] }));
    await outbox.enqueue(client, { tags: ["b"] });
    await refused(() => outbox.enqueue(wrong, { tags: ["c"] }));
    await client.query("ROLLBACK");
    expect(await outbox.list()).toEqual([]);
  });

  test("a row of another transaction that is not committed yet is neither sent nor in the way", async () => {
    const purger = createScriptedPurger();
    const outbox = createOutbox({ database: pool, purger });
    await outbox.createTable();
    await transaction("COMMIT", async (open) => {
      await outbox.enqueue(open, { tags: ["a"] });
      await transaction("COMMIT", (client) => outbox.enqueue(client, { tags: ["a", "b"] }));
      await outbox.drain();
      expect(purger.tags).toEqual(["a b"]);
    });
    await outbox.drain();
    expect(purger.tags).toEqual(["a b", "a"]);
  });

  test("a row that another transaction has locked is skipped with those behind it, and not waited for", async () => {
    const purger = createScriptedPurger();
    const outbox = createOutbox({ database: pool, purger });
    await outbox.createTable();
    await transaction("COMMIT", async (client) => {
      for (const tags of [["a"], ["a", "b"], ["c"]]) await outbox.enqueue(client, { tags });
    });
    await transaction("COMMIT", async (locking) => {
      await locking.query("SELECT seq FROM tidemark_outbox ORDER BY seq LIMIT 1 FOR UPDATE");
      const report = await outbox.drain();
      expect(report).toMatchObject({ sent: [{ request: { tags: ["c"] } }], nextDueInMs: 1_000 });
    });
    await outbox.drain();
    expect(purger.tags).toEqual(["c", "a", "a b"]);
  });

  test("leases and pauses go by the clock of the database", async () => {
    const outbox = createOutbox({
      database: pool,
      purger: {
        async purge() {
          throw new Error("it failed");
        },
      },
    });
    await outbox.createTable();
    await transaction("COMMIT", (client) => outbox.enqueue(client, { tags: ["a"] }));
    const { failed } = await outbox.drain();
    const { rows } = await pool.query(
      "SELECT due_at - extract(epoch FROM clock_timestamp()) * 1000 AS left_ms, enqueued_at <= due_at AS in_order FROM tidemark_outbox",
    );
    expect(Number(rows[0].left_ms)).toBeLessThanOrEqual(failed[0]!.dueInMs);
    expect(Number(rows[0].left_ms)).toBeGreaterThan(failed[0]!.dueInMs - 60_000);
    expect(rows[0].in_order).toBe(true);
  });

  test("the table is created by many processes at once, and by its statement in a migration", async () => {
    const outboxes = await Promise.all(Array.from({ length: 8 }, async () => outboxOf(await connect())));
    await Promise.all(outboxes.map((outbox) => outbox.createTable()));
    await pool.query(TABLE_SQL);
    expect((await pool.query("SELECT version FROM tidemark_outbox_schema")).rows).toEqual([{ version: 2 }]);
  });

  test("the same where transactions are serializable by default", async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, connect));
    for (const client of clients) await client.query("SET default_transaction_isolation = 'serializable'");
    await Promise.all(clients.map((client) => outboxOf(client).createTable()));
    expect((await pool.query("SELECT version FROM tidemark_outbox_schema")).rows).toEqual([{ version: 2 }]);
  });

  test("a table that exists is not created again: no lock is waited for, and no right to create is needed", async () => {
    const outbox = outboxOf(pool);
    await outbox.createTable();
    const client = await connect();
    await client.query("SET lock_timeout = 1");
    await transaction("COMMIT", async (open) => {
      await outbox.enqueue(open, { tags: ["a"] });
      await outboxOf(client).createTable();
    });
    await pool.query("CREATE ROLE writer; GRANT SELECT ON tidemark_outbox_schema TO writer");
    await client.query("SET ROLE writer");
    await outboxOf(client).createTable();
  });

  test("a missing table is asked for, with its statement, and aborts no transaction", async () => {
    const outbox = outboxOf(pool);
    const missing = /has no table tidemark_outbox\..*CREATE TABLE IF NOT EXISTS tidemark_outbox \(/s;
    await expect(outbox.drain()).rejects.toThrow(missing);
    await expect(outbox.list()).rejects.toThrow(missing);
    await transaction("COMMIT", async (client) => {
      await expect(outbox.enqueue(client, { tags: ["a"] })).rejects.toThrow(missing);
      expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    });
  });

  test.each([0, 1, 3])("a table of version %i is refused", async (version) => {
    await pool.query(TABLE_SQL);
    await pool.query("UPDATE tidemark_outbox_schema SET version = $1", [version]);
    const outbox = outboxOf(pool);
    const refused = `The table tidemark_outbox has version ${version}`;
    await expect(outbox.createTable()).rejects.toThrow(refused);
    await expect(outbox.drain()).rejects.toThrow(refused);
    await expect(outbox.requeue()).rejects.toThrow(refused);
  });
});
