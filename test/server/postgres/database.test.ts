import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Database } from "../../../server/postgres/database.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { byDepth } from "../../suite/depth.ts";
import { freePort } from "../../suite/free-ports.ts";
import { usedHeapBytes } from "../../suite/used-heap.ts";
import { Relay } from "../machines/relay.ts";
import { speakPostgres } from "./spoken-database.ts";

test("queries that fail together lengthen the pause before the next attempt once", async () => {
  let elapsed = 0;
  const clock = { ...systemClock, elapsed: () => elapsed };
  const database = await Database.over({ url: "postgres://127.0.0.1:1/log", clock, random: () => 1 });
  const failure = () => database.query("SELECT 1").catch((cause: unknown) => cause);
  await Promise.all([failure(), failure(), failure(), failure()]);
  const first = await failure();
  elapsed = 99;
  expect(await failure()).toBe(first); // at once, and nothing is tried
  elapsed = 100;
  const second = await failure();
  expect(second).not.toBe(first);
  elapsed = 299;
  expect(await failure()).toBe(second);
  elapsed = 300;
  expect(await failure()).not.toBe(second);
  await database.close();
});

test("a machine without the password keeps no connection open, and asks no oftener than one that is out of reach", async () => {
  vi.stubEnv("PGPASSWORD", undefined);
  vi.stubEnv("PGPASSFILE", "/nowhere/.pgpass");
  const { url, connections, stop } = await speakPostgres({ asksForPassword: true });
  const database = await Database.over({ url, clock: { ...systemClock, elapsed: () => 0 }, random: () => 1 });
  for (let query = 0; query < 5; query++) {
    await expect(database.query("SELECT 1")).rejects.toThrow("it asks for a password");
  }
  expect(connections).toHaveLength(1);
  await connections[0]?.closed;
  const { promise: lost, resolve: onLost } = Promise.withResolvers<unknown>();
  const listening = database.listen({ onListening() {}, onNotice() {}, onLost });
  expect(await lost).toMatchObject({ kind: "lasting" });
  await connections[1]?.closed;
  await database.close();
  await listening;
  stop();
  vi.unstubAllEnvs();
});

test("a connection begins with no setting that a pooler refuses: its first statement sets the bounds", async () => {
  const { url, connections, stop } = await speakPostgres();
  const database = await Database.over({ url, clock: systemClock, random: Math.random });
  await database.query("SELECT 1");
  const [{ parameters, statements } = {}] = connections;
  const begins = { user: "tm", database: "log", application_name: "tidemark serve", client_encoding: "UTF8" };
  expect(parameters).toEqual(begins); // all of which PgBouncer takes
  expect(statements).toEqual([expect.stringContaining("SET statement_timeout = 4000"), "SELECT 1"]);
  await database.close();
  stop();
});

describe("a pooler that lets a new connection wait because its pool is full", () => {
  const open = async (answers: (connection: number) => boolean) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const pooler = await speakPostgres({ answers });
    const clock = { ...systemClock, elapsed: () => 0 };
    const database = await Database.over({ url: pooler.url, clock, random: Math.random });
    const stop = async () => {
      vi.useRealTimers();
      await database.close();
      pooler.stop();
    };
    return { ...pooler, database, stop };
  };

  test("leaves the machine those that it has, which queries then wait for", async () => {
    const { connections, database, stop } = await open((connection) => connection === 0);
    const query = () => database.query("SELECT 1");
    await query();
    const both = Promise.all([query(), query()]);
    await vi.waitUntil(() => connections[1]?.statements.length === 1);
    vi.advanceTimersByTime(1000);
    await both;
    await connections[1]?.closed;
    await Promise.all([query(), query(), query()]);
    expect(connections).toHaveLength(2);
    await stop();
  });

  test("is out of reach for a machine that has none", async () => {
    const { connections, database, stop } = await open(() => false);
    const failure = database.query("SELECT 1").catch((cause: unknown) => cause);
    await vi.waitUntil(() => connections[0]?.statements.length === 1);
    vi.advanceTimersByTime(5000);
    const message = expect.stringContaining("(default_pool_size); a machine needs five");
    expect(await failure).toMatchObject({ kind: "out-of-reach", message });
    await stop();
  });
});

let server: PostgresServer;
let port: number;

beforeAll(async () => {
  if (noPostgres) return;
  port = await freePort();
  server = await startPostgres({ port });
}, 60_000);
afterAll(() => server?.stop(), 60_000);

test.skipIf(noPostgres)(
  "a connection that listens holds nothing of the times that it was asked",
  { timeout: 60_000 },
  async () => {
    const pings = byDepth({ test: 1500, gate: 1500, all: 8000 });
    const bound = byDepth({ test: 600_000, gate: 600_000, all: 2_000_000 }); // to hold each answer takes 1.4 kB a time
    let waits = 0;
    let usedAtFirst = 0;
    const { promise: asked, resolve } = Promise.withResolvers<number>();
    const clock = {
      ...systemClock,
      wait() {
        waits++;
        if (waits === 500) usedAtFirst = usedHeapBytes();
        if (waits === pings) resolve(usedHeapBytes() - usedAtFirst);
        const isOver = waits < pings;
        const over = isOver ? new Promise<void>((next) => setImmediate(next)) : new Promise<never>(() => undefined);
        return { over, cancel: () => undefined };
      },
    };
    const database = await Database.over({ url: server.url("postgres"), clock, random: Math.random });
    const listening = database.listen({ onListening() {}, onNotice() {}, onLost() {} });
    expect(await asked).toBeLessThan(bound);
    await database.close();
    await listening;
  },
);

test.skipIf(noPostgres)("the database bounds each statement, and what it waits for", { timeout: 60_000 }, async () => {
  const database = await Database.over({ url: server.url("postgres"), clock: systemClock, random: Math.random });
  const bounds = "'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'";
  const rows = await database.query<{ setting: string }>(
    `SELECT setting FROM pg_settings WHERE name IN (${bounds}) ORDER BY name`,
  );
  expect(rows.map(({ setting }) => setting)).toEqual(["3000", "3000", "4000"]);
  await database.close();
});

describe.skipIf(noPostgres)("connections that fall silent", { timeout: 60_000 }, () => {
  const connections = 4;
  let relay: Relay;
  let database: Database;
  let url: string;
  let elapsed: number;

  beforeEach(async () => {
    elapsed = 0;
    relay = await Relay.to(port);
    const clock = { ...systemClock, elapsed: () => elapsed };
    url = `postgres://tidemark@127.0.0.1:${relay.port}/postgres`;
    database = await Database.over({ url, clock, random: Math.random });
    await Promise.all(Array.from({ length: connections }, () => database.query("SELECT 1")));
  }, 60_000);
  afterEach(async () => {
    vi.useRealTimers();
    await database.close();
    await relay.close();
  }, 60_000);

  test("do not keep a process that closes them from ending", async () => {
    const program = fileURLToPath(new URL("./closed-database.ts", import.meta.url));
    const child = spawn(process.execPath, [program, url], { stdio: ["pipe", "pipe", "inherit"] });
    await once(child.stdout, "data");
    relay.silence();
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  test("are given up together after the first that does not answer, because the address leads elsewhere by now", async () => {
    relay.silence();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const first = database.query("SELECT 1").catch(String);
    await new Promise(setImmediate); // it is on its way
    vi.advanceTimersByTime(5000);
    expect(await first).toContain("it cannot be reached (Query read timeout)");
    vi.useRealTimers();
    elapsed += 100;
    expect(await database.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });
});
