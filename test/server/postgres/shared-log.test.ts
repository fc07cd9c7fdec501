import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Database, pauseMs } from "../../../server/postgres/database.ts";
import { expectSharedLog } from "../../../server/postgres/open-shared-log.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { AppendResult } from "../../../worker/purges/log/log-contract.ts";
import { readReceiptToken, writeReceiptToken } from "../../../worker/rules/request/receipt-token.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { freePort } from "../../suite/free-ports.ts";
import { Relay } from "../machines/relay.ts";
import { emptyDatabase } from "./empty-database.ts";
import { type MachineOptions, MachineUnderTest } from "./machine-under-test.ts";

const HOUR_MS = 3_600_000;
/** So long that a purge which waits for it has not settled by the clock when a test looks, however slow the machine is. */
const LONG_LEASE_MS = 60_000;

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

describe("the pause before the next connection", () => {
  test.each([
    [0, 0, 50],
    [0, 1, 100],
    [1, 0, 100],
    [4, 1, 1600],
    [5, 1, 2000],
    [50, 0, 1000],
  ])("after %d failures, with the random number %d, is %d ms", (failures, random, ms) => {
    expect(pauseMs(failures, random)).toBe(ms);
  });
});

describe.skipIf(noPostgres)("a log in PostgreSQL that machines share", { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let servers: PostgresServer[];
  let machines: MachineUnderTest[];
  let admin: pg.Client;
  let url: string;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop(), 60_000);

  beforeEach(async () => {
    machines = [];
    servers = [];
    url = await emptyDatabase(server);
    admin = await connected(url);
  });
  afterEach(async () => {
    for (const machine of machines) await machine.stop();
    await admin.end().catch(() => undefined);
    for (const each of servers) {
      await each.crash(); // it may have connections that nobody ends
      await each.stop();
    }
  }, 60_000);

  async function connected(to: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: to });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  async function start(options: MachineOptions = {}, at = url): Promise<MachineUnderTest> {
    const machine = await MachineUnderTest.start(at, options);
    machines.push(machine);
    return machine;
  }

  const check = (at: string) => expectSharedLog({ url: at, clock: systemClock, random: Math.random });

  /** A machine with a worker that has a long lease. */
  async function startWithLongLease(): Promise<MachineUnderTest> {
    const machine = await start();
    await machine.keeper.read(machine.position, 1000, LONG_LEASE_MS);
    return machine;
  }

  /** A server of its own for a test that stops it, or takes it back in time. */
  async function ownServer(settings: Readonly<Record<string, string>> = {}, port?: number): Promise<PostgresServer> {
    const own = await startPostgres({ settings, ...(port && { port }) });
    servers.push(own);
    return own;
  }

  async function appended(machine: MachineUnderTest, key: string, rest: Parameters<typeof purge>[1] = {}) {
    const result: AppendResult = await machine.keeper.append(purge([key], rest));
    if (result.kind === "conflict") throw new Error("no conflict here");
    return result;
  }

  /** When a purge settles that not everybody confirms, in milliseconds. */
  async function boundOf(machine: MachineUnderTest, key: string, rest?: Parameters<typeof purge>[1]): Promise<number> {
    machine.isPatient = false;
    const { settlesInMs } = await appended(machine, key, rest);
    machine.isPatient = true;
    return settlesInMs;
  }

  const eventually = async (isSo: () => unknown) => {
    for (;;) {
      try {
        if (await isSo()) return;
      } catch {
        // The log is out of reach.
      }
      await systemClock.wait(20).over;
    }
  };

  test("a purge settles when the workers of every machine have confirmed it", async () => {
    const [a, b] = [await start(), await start()];
    const stamp = b.position;
    expect(await appended(a, "#a")).toMatchObject({ seq: 1, settlesInMs: 0 });
    expect([a.check("#a", stamp), b.check("#a", stamp)]).toEqual(["purged", "purged"]);
    expect(await b.keeper.find(1)).toMatchObject({ settled: true });
    expect(readReceiptToken(writeReceiptToken(b.position))).toEqual(b.position);
  });

  test("purges on all machines at once have numbers of their own, and all settle", async () => {
    const all = [await start(), await start(), await start()];
    const results = await Promise.all(Array.from({ length: 60 }, (_, each) => appended(all[each % 3]!, `#${each}`)));
    expect(results.map(({ seq }) => seq).sort((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
    expect(new Set(results.map(({ settlesInMs }) => settlesInMs))).toEqual(new Set([0]));
  });

  test("purges at once share the statements that concern all of them", async () => {
    const [a] = [await start(), await start()];
    const count = 100;
    const committed = Promise.withResolvers<void>();
    let appends = 0;
    const query = a.database.query.bind(a.database);
    const asked = vi.spyOn(a.database, "query").mockImplementation(async (text, values) => {
      if (/tidemark_log_date|WITH log AS/.test(text)) await committed.promise; // so that all are under way at once
      const rows = await query(text, values);
      if (text.includes("tidemark_log_append")) appends += rows.length;
      if (appends === count) committed.resolve();
      return rows as never;
    });
    const results = await Promise.all(Array.from({ length: count }, (_, each) => appended(a, `#${each}`)));
    expect(new Set(results.map(({ settlesInMs }) => settlesInMs))).toEqual(new Set([0]));
    expect(asked.mock.calls.length).toBeLessThan(count);
    expect(await a.keeper.find(1)).toMatchObject({ settled: true });
  });

  describe("purges that wait for others", () => {
    let machine: MachineUnderTest;
    /** How many purges each statement writes. */
    let sizes: number[];
    /** What a statement that has been committed fails with, as seen from here. */
    let answerLost: ((size: number) => boolean) | null;

    beforeEach(async () => {
      machine = await start();
      sizes = [];
      answerLost = null;
      const query = machine.database.query.bind(machine.database);
      vi.spyOn(machine.database, "query").mockImplementation(async (text, values) => {
        const rows = await query(text, values);
        if (!text.includes("tidemark_log_append")) return rows as never;
        sizes.push(rows.length);
        if (answerLost?.(rows.length)) throw new Error("the connection was lost");
        return rows as never;
      });
      await admin.query("BEGIN; SELECT FROM tidemark_log FOR UPDATE");
    });

    /**
     * Two purges take the turns and wait for the log's row; these wait for a turn meanwhile. They may be written before
     * the second one, because PostgreSQL gives the row to whoever asks first once it is free.
     */
    async function burst(purges: readonly Parameters<typeof purge>[]) {
      const first = [appended(machine, "#first")];
      await eventually(async () => (await waiting()) === 1);
      first.push(appended(machine, "#second"));
      await eventually(async () => (await waiting()) === 2);
      const rest = Promise.allSettled(purges.map(([[key], more]) => appended(machine, key!, more)));
      await admin.query("COMMIT");
      await Promise.all(first);
      return rest;
    }

    const waiting = async () => {
      const { rowCount } = await admin.query("SELECT FROM pg_locks WHERE NOT granted");
      return rowCount;
    };

    const seqOf = (outcome: PromiseSettledResult<{ seq: number; replayed: boolean }>) =>
      outcome.status === "fulfilled" ? outcome.value.seq : null;

    test("are written together, in their order, a hundred at a time", async () => {
      const outcomes = await burst(Array.from({ length: 250 }, (_, each) => [[`#${each}`]]));
      const seqs = outcomes.map(seqOf);
      expect(new Set(seqs).size).toBe(250);
      expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 1, 50, 100, 100]);
      for (const from of [0, 100, 200]) {
        const ofOne = seqs.slice(from, from + 100);
        expect(ofOne).toEqual(ofOne.map((_, at) => ofOne[0]! + at));
      }
    });

    test("are fewer in one statement if they have many keys, because other machines wait for it as well", async () => {
      const purgeKeys = Array.from({ length: 100 }, (_, each) => `#${each}`);
      await burst(Array.from({ length: 25 }, () => [purgeKeys, { purgeKeys }]));
      expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 1, 5, 10, 10]);
    });

    test("are written once if they have one id, and each conflict is that of its own purge", async () => {
      const outcomes = await burst([
        [["#a"], { id: "a" }],
        [["#b"], { id: "b" }],
        [["#a"], { id: "a" }],
      ]);
      const seqs = outcomes.map(seqOf);
      const [first] = seqs;
      expect([2, 3]).toContain(first);
      expect(seqs).toEqual([first, first! + 1, first]);
      expect(outcomes).toMatchObject([
        { value: { replayed: false } },
        { value: { replayed: false } },
        { value: { replayed: true } },
      ]);
      const conflict = machine.keeper.append(purge(["#c"], { id: "b", content: "another" }));
      expect(await Promise.all([conflict, appended(machine, "#d")])).toMatchObject([{ kind: "conflict" }, { seq: 5 }]);
    });

    test("fail together with their statement and no other one, and are written once when they are repeated", async () => {
      answerLost = (size) => size === 100;
      const purges = Array.from({ length: 130 }, (_, each) => [[`#${each}`], { id: `id-${each}` }] as const);
      const outcomes = await burst(purges.map(([keys, more]) => [[...keys], more]));
      const isLost = (at: number) => at < 100;
      expect(outcomes.map(({ status }) => status)).toEqual(
        purges.map((_, at) => (isLost(at) ? "rejected" : "fulfilled")),
      );
      expect(outcomes[0]).toMatchObject({ reason: new Error("the connection was lost") });
      answerLost = null;
      const again = await Promise.all(purges.map(([[key], more]) => appended(machine, key, more)));
      expect(again.map(({ replayed }) => replayed)).toEqual(purges.map(() => true));
      expect(new Set(again.map(({ seq }) => seq)).size).toBe(130);
      expect((await machine.keeper.read(null, 1000)).to).toBe(132);
    });
  });

  test("no purge becomes visible after a later one, because its number is locked until its commit", async () => {
    const machine = await start();
    await appended(machine, "#first");
    await admin.query("BEGIN; SELECT FROM tidemark_log FOR UPDATE");
    const held = appended(machine, "#held"); // waits for the lock
    await admin.query("UPDATE tidemark_log SET head = head + 1");
    expect((await machine.keeper.read(null, 1000)).to).toBe(1);
    await admin.query("COMMIT");
    expect(await held).toMatchObject({ seq: 3 });
  });

  test("reads go on while more purges wait for the lock of another one than there are connections", async () => {
    const machine = await start();
    await admin.query("BEGIN; SELECT FROM tidemark_log FOR UPDATE");
    const waiting = Promise.allSettled(Array.from({ length: 8 }, (_, each) => appended(machine, `#${each}`)));
    await machine.read();
    await admin.query("COMMIT");
    expect(new Set((await waiting).map(({ status }) => status))).toEqual(new Set(["fulfilled"]));
  });

  test("a purge that waits for more than 3 s until its turn comes is refused, and later ones are not", async () => {
    let elapsed = 0;
    const database = await Database.over({ url, clock: { ...systemClock, elapsed: () => elapsed }, random: () => 1 });
    const tried = () => database.queryInTurn("SELECT pg_advisory_xact_lock(1)").then(() => "done", String);
    await admin.query("SELECT pg_advisory_lock(1)");
    const [first, second, late] = [tried(), tried(), tried()];
    elapsed = 3001;
    const next = tried();
    await admin.query("SELECT pg_advisory_unlock(1)");
    const busy = expect.stringMatching(/: all connections of this machine to it are busy, or it does not answer\.$/);
    expect(await Promise.all([first, second, late, next])).toEqual(["done", "done", busy, "done"]);
    await database.close();
  });

  test("a purge waits from its commit on, for what a machine was granted that could not see it yet", async () => {
    const [a, late] = [await start(), await start()];
    await admin.query(
      `CREATE FUNCTION hold() RETURNS TRIGGER LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON tidemark_log_audit DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hold();
      SELECT pg_advisory_lock(1)`,
    );
    late.isListening = false;
    const bound = boundOf(a, "#a");
    await eventually(async () => (await admin.query("SELECT FROM pg_locks WHERE NOT granted")).rowCount === 1);
    expect((await late.keeper.read(late.position, 1000, LONG_LEASE_MS)).to).toBe(0);
    await admin.query("SELECT pg_advisory_unlock(1)");
    expect(await bound).toBe(LONG_LEASE_MS + 250);
    expect((await a.keeper.find(1))!.settlesInMs).toBeGreaterThan(LONG_LEASE_MS / 2);
  });

  test("a purge whose machine was cut off right after its commit waits from when somebody looks", async () => {
    const [a, late] = [await start(), await startWithLongLease()];
    late.isListening = false;
    await boundOf(a, "#a");
    await admin.query("UPDATE tidemark_log_audit SET settles_at = 9000000000000250");
    const { settled, settlesInMs } = (await late.keeper.find(1))!;
    expect(settled).toBe(false);
    expect(settlesInMs).toBeGreaterThan(LONG_LEASE_MS / 2);
    expect(settlesInMs).toBeLessThanOrEqual(LONG_LEASE_MS + 250);
  });

  test("a machine whose workers do not confirm is waited for once, and then bounded by its lease", {
    tags: ["deep"],
  }, async () => {
    const [a, b] = [await start(), await startWithLongLease()];
    b.isListening = false;
    expect(await boundOf(a, "#a")).toBe(LONG_LEASE_MS + 250);
    expect(await a.keeper.find(1)).toMatchObject({ settled: false });
    expect(await boundOf(a, "#b")).toBe(LONG_LEASE_MS + 250);
    b.isListening = true;
    await eventually(async () => (await appended(b, "#c")).settlesInMs === 0);
    await eventually(async () => (await appended(a, "#d")).settlesInMs === 0);
  });

  test("a machine with a worker of an earlier supervisor confirms nothing", { tags: ["deep"] }, async () => {
    const a = await start();
    let hasStrangers = true;
    const b = await start({ hasStrangers: () => hasStrangers });
    expect(await boundOf(a, "#a")).toBe(1250);
    hasStrangers = false;
    await eventually(async () => (await appended(a, "#b")).settlesInMs === 0);
    expect(b.check("#b", { ...a.position, seq: 0 })).toBe("purged");
  });

  test("the longest lease of any machine counts, until the machine has left", { tags: ["deep"] }, async () => {
    const [a, b] = [await start(), await startWithLongLease()];
    b.isListening = false;
    expect(await boundOf(a, "#a")).toBe(LONG_LEASE_MS + 250);
    await b.keeper.close();
    expect(await appended(a, "#b")).toMatchObject({ settlesInMs: 0 });
  });

  test("the machines of another log say nothing about a purge", async () => {
    const a = await start();
    await appended(a, "#a");
    expect(await a.log.unconfirmed(a.position)).toEqual(new Map());
    await expect(a.log.unconfirmed({ ...a.position, logId: "the one before" })).rejects.toThrow("another log");
  });

  test("a machine that was killed counts for a day, by the database's clock, and until another one has looked for it for long", async () => {
    const [a, b] = [await start(), await start({ name: "web-2:/var/cache" })];
    await b.die();
    const age = (hours: number) =>
      admin.query(`UPDATE tidemark_log_machines SET heard_at = clock_timestamp() - make_interval(hours => ${hours})
        WHERE machine = '${b.log.machine}'`);
    const look = async ({ log }: MachineUnderTest, times: number) => {
      for (let looks = 0; looks < times; looks++) await log.beat();
    };
    await look(a, 61); // somebody has looked often enough, but has set the database's clock, perhaps
    expect(await boundOf(a, "#a")).toBe(1250);
    expect(a.told).toEqual(["late: web-2:/var/cache"]);
    expect(await a.keeper.list(null, 1)).toMatchObject({
      purges: [{ settled: false, waitsFor: ["web-2:/var/cache"] }],
    });
    const watcher = await start();
    await age(27); // as a dump brings back a row, or as long as every machine is restarted daily
    await look(watcher, 59); // and once when it started
    expect(await boundOf(a, "#b")).toBe(1250);
    await age(25); // it may have read for an hour after its last beat, and used R8 for a day after that
    await look(watcher, 1);
    expect(await boundOf(a, "#c")).toBe(1250);
    await age(27);
    await look(watcher, 1);
    expect(await appended(a, "#d")).toMatchObject({ settlesInMs: 0 });
    machines = [a, watcher];
  });

  test("a machine that the database has not heard of for a day, because it was down, counts once it is up again", async () => {
    let elapsed = 0;
    const [a, b] = [await start({ elapsed: () => elapsed }), await start()];
    await a.log.beat();
    elapsed = 30 * HOUR_MS;
    await admin.query("UPDATE tidemark_log_machines SET heard_at = heard_at - interval '30 hours'");
    await b.read(); // which comes before its next beat
    b.isListening = false;
    await a.log.beat();
    expect(await boundOf(a, "#a")).toBe(1250);
  });

  test("a machine that comes back in its folder takes the place of the one that was killed there", {
    tags: ["deep"],
  }, async () => {
    const [a, b] = [await start(), await start()];
    await b.die();
    machines.pop();
    await start({ folder: b.folder });
    expect(await appended(a, "#a")).toMatchObject({ settlesInMs: 0 });
    const { rows } = await admin.query("SELECT machine FROM tidemark_log_machines");
    expect(rows).toHaveLength(2);
  });

  test("a machine that starts in a copy of another one's folder does not confirm in the name of that one", {
    tags: ["deep"],
  }, async () => {
    const [a, cutOff] = [await start(), await start()];
    await cutOff.die(); // for the database that is the same
    const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    cpSync(cutOff.folder, folder, { recursive: true });
    const copy = await start({ folder });
    expect(await boundOf(a, "#a")).toBe(1250);
    await copy.stop();
    machines = [a];
    expect(await boundOf(a, "#b")).toBe(1250);
  });

  test("a machine whose row is gone reads nothing before it is a reader again", { tags: ["deep"] }, async () => {
    const [a, b] = [await start(), await start()];
    await admin.query("DELETE FROM tidemark_log_machines WHERE machine = $1", [b.log.machine]);
    await b.read();
    b.isListening = false;
    expect(await boundOf(a, "#a")).toBe(1250);
  });

  describe("an answer about a purge that a machine has not confirmed is held, wherever it is asked for,", () => {
    /** A purge that settles by the clock after a minute, because a machine does not confirm it. */
    async function unsettled() {
      const [asked, other, late] = [await start(), await start(), await startWithLongLease()];
      late.isListening = false;
      asked.isPatient = false;
      const settlesInMs = LONG_LEASE_MS + 250;
      expect(await appended(asked, "#a")).toMatchObject({ seq: 1, settlesInMs, maySettleSooner: true });
      return { asked, other, late };
    }

    test("until it does", { tags: ["deep"] }, async () => {
      const { asked, other, late } = await unsettled();
      const found = [asked, other].map(({ keeper }) => keeper.find(1, 25_000));
      late.isListening = true;
      await eventually(async () => (await appended(late, "#b")).settlesInMs === 0);
      for (const each of found) expect(await each).toMatchObject({ seq: 1, settled: true });
      expect(await asked.keeper.find(1)).toMatchObject({ settled: true });
    });

    test("until it has left", { tags: ["deep"] }, async () => {
      const { other, late } = await unsettled();
      const found = other.keeper.find(1, 25_000);
      await late.keeper.close();
      expect(await found).toMatchObject({ seq: 1, settled: true });
    });

    test("until its time is over", { tags: ["deep"] }, async () => {
      const { other } = await unsettled();
      expect(await other.keeper.find(1, 100)).toMatchObject({ seq: 1, settled: false });
    });
  });

  test("a machine that reads while its longest lease is being written keeps its row", { tags: ["deep"] }, async () => {
    const machine = await start();
    const { machine: name } = machine.log;
    await admin.query("BEGIN; SELECT FROM tidemark_log_machines FOR UPDATE");
    const longer = machine.log.read(machine.position, 1000, 60_000); // waits for the lock
    const leaseOf = async () => (await admin.query("SELECT machine, lease_ms FROM tidemark_log_machines")).rows;
    await eventually(async () => {
      const { rows } = await admin.query("SELECT FROM pg_locks WHERE NOT granted");
      return rows.length > 0;
    });
    await machine.log.changesSince(machine.position);
    await admin.query("COMMIT");
    await longer;
    expect(await leaseOf()).toEqual([{ machine: name, lease_ms: "60000" }]);
  });

  test("connections that lead elsewhere by now are renewed, that for notices as well, which is no failure", async () => {
    const database = await Database.over({ url, clock: systemClock, random: Math.random });
    let listening = 0;
    const lost: unknown[] = [];
    const listened = database.listen({
      onListening: () => void listening++,
      onNotice: () => undefined,
      onLost: (cause) => lost.push(cause),
    });
    await eventually(() => listening === 1);
    database.forgetConnections();
    await eventually(() => listening === 2);
    expect(lost).toEqual([]);
    await database.close();
    await listened;
  });

  test("a notice that is lost is made up for by the read of the lease", { tags: ["deep"] }, async () => {
    const [a, deaf] = [await start(), await start({ hears: false })];
    const stamp = deaf.position;
    await appended(a, "#a");
    await eventually(() => deaf.check("#a", stamp) === "purged");
    expect(await deaf.keeper.find(1)).not.toBeNull();
  });

  test("a repetition is carried out once, though every machine looks for it, and reaches all", async () => {
    const [a, b] = [await start(), await start()];
    await appended(a, "#a", { repeatAfterMs: 100 });
    await eventually(() => b.position.seq === 2);
    await Promise.all([a.log.runDue(), b.log.runDue()]);
    expect(await b.keeper.find(2)).toMatchObject({ repeatOf: 1 });
    expect(await b.keeper.find(3)).toBeNull();
  });

  test("repetitions that take too long together are carried out in several statements", async () => {
    // On this clock, every statement has lasted for more than a second when it looks.
    await admin.query(
      `CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$
        SELECT pg_catalog.clock_timestamp() + interval '2 seconds' $$;
      ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`,
    );
    const machine = await start();
    for (const key of ["#a", "#b", "#c"]) await appended(machine, key, { repeatAfterMs: HOUR_MS });
    await admin.query("UPDATE tidemark_log_repeats SET due_at = 0");
    const asked = vi.spyOn(machine.database, "query");
    while ((await machine.log.nextDueInMs()) !== null) await machine.log.runDue();
    expect(asked.mock.calls.filter(([text]) => text.includes("run_due")).length).toBeGreaterThanOrEqual(3);
    expect((await machine.log.changesSince(null)).to).toBe(6);
  });

  test("machines whose clocks differ by a day agree on what has settled, and on when a repetition is due", {
    tags: ["deep"],
  }, async () => {
    const [ahead, behind] = [await start({ clockAheadMs: 24 * HOUR_MS }), await start({ clockAheadMs: -24 * HOUR_MS })];
    await behind.keeper.read(behind.position, 1000, LONG_LEASE_MS);
    behind.isListening = false;
    expect(await boundOf(ahead, "#a", { repeatAfterMs: HOUR_MS })).toBe(LONG_LEASE_MS + 250);
    await Promise.all([ahead.log.runDue(), behind.log.runDue()]);
    for (const machine of [ahead, behind]) {
      expect(await machine.keeper.find(1)).toMatchObject({ settled: false });
      expect(await machine.keeper.find(2)).toBeNull();
    }
  });

  test("a machine that confirms a purge of another history is not believed", { tags: ["deep"] }, async () => {
    const [a, b] = [await start(), await start()];
    await appended(a, "#a");
    expect(await b.log.confirm(b.position)).toBe(true);
    await admin.query("UPDATE tidemark_log_audit SET mark = 'of another purge'");
    expect(await b.log.confirm(b.position)).toBe(false);
  });

  test("what another log has settled leaves the purges of this one unsettled", { tags: ["deep"] }, async () => {
    const [a, b] = [await start(), await startWithLongLease()];
    b.isListening = false;
    expect(await boundOf(a, "#a")).toBe(LONG_LEASE_MS + 250);
    await a.log.settleUpTo({ logId: "another", seq: 1 });
    expect(await a.keeper.find(1)).toMatchObject({ settled: false });
    await a.log.settleUpTo(a.position);
    expect(await a.keeper.find(1)).toMatchObject({ settled: true });
  });

  test("needs no privilege beyond its own tables", { tags: ["deep"] }, async () => {
    await admin.query("CREATE ROLE owner LOGIN");
    await admin.query("CREATE DATABASE owned OWNER owner");
    const machine = await start({}, server.url("owned").replace("tidemark@", "owner@"));
    expect(await appended(machine, "#a")).toMatchObject({ seq: 1, settlesInMs: 0 });
  });

  test("a foreign or torn notice does nothing", async () => {
    const a = await start();
    for (const payload of ["{", "null", "7", '{"machine":1}', "x".repeat(5000)]) {
      await admin.query("SELECT pg_notify('tidemark_log', $1)", [payload]);
    }
    expect(await appended(a, "#a")).toMatchObject({ settlesInMs: 0 });
  });

  test("a text that PostgreSQL cannot store is stored without its fault", { tags: ["deep"] }, async () => {
    const a = await start();
    await appended(a, "#\0\ud800", { reason: "a\0b\ud800", by: "editor\0" });
    expect(await a.keeper.find(1)).toMatchObject({ reason: "a\ufffdb\ufffd", by: "editor\ufffd" });
  });

  describe("whose database", () => {
    test("restarts: calls fail with words meanwhile, nothing is half done, and the log goes on", {
      tags: ["deep"],
    }, async () => {
      const own = await ownServer({ fsync: "on" });
      const [a, b] = [await start({}, own.url("postgres")), await start({}, own.url("postgres"))];
      const { logId } = await appended(a, "#a");
      await own.crash();
      await expect(appended(a, "#b")).rejects.toThrow(
        `The purge log in PostgreSQL at ${own.host}:5432/postgres: it cannot`,
      );
      await expect(a.read()).rejects.toThrow("cannot be reached");
      await own.start();
      await eventually(async () => (await appended(b, "#c")).settlesInMs === 0);
      expect(a.position.logId).toBe(logId);
      const { purges } = await a.keeper.list(null, 10);
      expect(purges.map(({ purgeKeys }) => purgeKeys[0]).filter((key) => key === "#b")).toEqual([]);
    });

    test("is lost: an answer that is held is given by the clock", { tags: ["deep"] }, async () => {
      const own = await ownServer();
      const [a, b] = [await start({}, own.url("postgres")), await start({}, own.url("postgres"))];
      await b.keeper.read(b.position, 1000, 5_000); // which leaves enough time to ask
      b.isListening = false;
      expect(await boundOf(a, "#a")).toBe(5_250);
      const isHeld = new Promise<void>((resolve) => {
        const { find } = a.log;
        a.log.find = async (seq) => {
          const record = await find.call(a.log, seq);
          resolve();
          return record;
        };
      });
      const found = a.keeper.find(1, 25_000);
      await isHeld;
      await own.crash();
      expect(await found).toMatchObject({ seq: 1, settled: true });
    });

    test("commits purges and machines durably though its owner has turned that off", { tags: ["deep"] }, async () => {
      const own = await ownServer({ fsync: "on", synchronous_commit: "off", wal_writer_delay: "10s" });
      const a = await start({}, own.url("postgres"));
      const { seq, logId } = await appended(a, "#a");
      const cutOff = await start({}, own.url("postgres"));
      await cutOff.die(); // for the database; its workers hold a lease
      machines.pop();
      await own.crash();
      await own.start();
      let bound = 0;
      await eventually(async () => {
        bound = await boundOf(a, "#b");
        return true;
      });
      expect(bound).toBe(1250);
      expect(a.position).toEqual({ seq: seq + 1, logId });
    });

    test("fails over to a standby that lags: another log begins, so that everything stored is invalid", {
      tags: ["deep"],
    }, async () => {
      const own = await ownServer();
      const a = await start({}, own.url("postgres"));
      await appended(a, "#a");
      const standby = await own.standby(false);
      servers.push(standby);
      const stamp = a.position;
      const { seq } = await appended(a, "#lost"); // acknowledged, and not on the standby
      await standby.promote();
      const b = await start({ folder: a.folder }, standby.url("postgres"));
      expect(b.position.logId).not.toBe(stamp.logId);
      expect(b.check("#lost", stamp)).toBe("unverifiable");
      expect(await appended(b, "#b")).toMatchObject({ seq, logId: b.position.logId });
    });

    test("fails over without any loss: another log begins all the same", { tags: ["deep"] }, async () => {
      const own = await ownServer();
      const a = await start({}, own.url("postgres"));
      const { logId } = await appended(a, "#a");
      const standby = await own.standby();
      servers.push(standby);
      await standby.promote();
      const b = await start({}, standby.url("postgres"));
      expect(b.position).toMatchObject({ seq: 1 });
      expect(b.position.logId).not.toBe(logId);
    });

    test("fails over to one standby and then to another: each has another log, although both begin the same timeline", {
      tags: ["deep"],
    }, async () => {
      const own = await ownServer();
      const a = await start({}, own.url("postgres"));
      await appended(a, "#a");
      const standbys = [await own.standby(false), await own.standby(false)];
      servers.push(...standbys);
      const ids = new Set([a.position.logId]);
      for (const standby of standbys) {
        await standby.promote();
        ids.add((await start({}, standby.url("postgres"))).position.logId);
      }
      expect(ids.size).toBe(3);
    });

    test("fails over and runs on: a machine moves to where its address leads once it has read there, and empties no cache again", async () => {
      const ports = [await freePort(), await freePort()] as const;
      const before = await ownServer({}, ports[0]);
      const after = await ownServer({}, ports[1]);
      const relay = await Relay.to(ports[0]);
      const moving = await start({}, `postgres://tidemark@127.0.0.1:${relay.port}/postgres`);
      const there = await start({}, after.url("postgres"));
      await appended(moving, "#a");
      const { logId } = await appended(there, "#b");
      relay.leadTo(ports[1]);
      const atOnce = () => Promise.all(["a", "b", "c", "d"].map(() => moving.read())).then(() => true);
      await (await connected(before.url("postgres"))).query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'tidemark serve' AND query LIKE '%tidemark_log %' LIMIT 1`);
      for (let times = 0; times < 5; times++) await eventually(atOnce);
      expect(moving.position.logId).toBe(logId);
      expect(moving.told).toEqual(["replaced"]);
      await moving.stop();
      machines = [there];
      await relay.close();
    });

    test("is a standby: it grants nothing, and no machine starts with it", { tags: ["deep"] }, async () => {
      const own = await ownServer();
      await start({}, own.url("postgres"));
      const standby = await own.standby();
      servers.push(standby);
      await expect(MachineUnderTest.start(standby.url("postgres"))).rejects.toThrow(
        "it is a standby, and the log needs the primary",
      );
      const rows = await (await connected(standby.url("postgres"))).query("SELECT tidemark_log_id('x') AS id");
      expect(rows.rows).toEqual([{ id: null }]);
    });

    test("is put back by a copy of its files, which has the same timeline: another log begins", {
      tags: ["deep"],
    }, async () => {
      const own = await ownServer();
      const a = await start({}, own.url("postgres"));
      const { logId } = await appended(a, "#a");
      await own.crash();
      const putBack = own.copyFiles();
      await own.start();
      await eventually(() => appended(a, "#b"));
      const stamp = a.position;
      await own.crash();
      putBack();
      await own.start();
      await eventually(() => a.read().then(() => true));
      expect(a.position.logId).not.toBe(logId);
      expect(a.check("#b", { ...stamp, seq: 1 })).toBe("unverifiable");
    });

    test("is put back, and has as many purges again before anybody looks: their marks tell them apart", {
      tags: ["deep"],
    }, async () => {
      const own = await ownServer();
      const at = own.url("postgres");
      const a = await start({}, at);
      const { logId } = await appended(a, "#a");
      await own.crash();
      const putBack = own.copyFiles();
      await own.start();
      await eventually(() => appended(a, "#b"));
      await a.die();
      machines.pop();
      await own.crash();
      putBack();
      await own.start();
      const stranger = await start({}, at); // knows nothing of the first history
      stranger.isPatient = false; // the log knows the first machine, which is gone
      for (const key of ["#c", "#d"]) expect(await appended(stranger, key)).toMatchObject({ logId });
      const back = await start({ folder: a.folder }, at);
      expect(back.position.logId).not.toBe(logId);
    });

    test("isolates transactions more by default: purges at the same time do not fail", { tags: ["deep"] }, async () => {
      const isolation = "SET default_transaction_isolation = 'repeatable read'";
      await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} ${isolation}`);
      const machines = [await start(), await start()];
      const all = Array.from({ length: 20 }, (_, each) => appended(machines[each % 2]!, `#${each}`));
      const seqs = (await Promise.all(all)).map(({ seq }) => seq).sort((a, b) => a - b);
      expect(seqs).toEqual(Array.from({ length: 20 }, (_, each) => each + 1));
    });

    test("compiles statements by default: none of these is, because that takes longer than they do", async () => {
      await admin.query("ALTER DATABASE postgres SET jit_above_cost = 0");
      const machine = await start();
      const plan = await machine.database.query("EXPLAIN ANALYZE SELECT count(*) FROM tidemark_log_keys");
      expect(JSON.stringify(plan)).toContain("Execution Time");
      expect(JSON.stringify(plan)).not.toContain("JIT");
    });

    test("takes no writes: another one may have replaced it, which waits for old leases for 61 minutes, and no lease is longer", {
      tags: ["deep"],
    }, async () => {
      let aheadMs = 0;
      const machine = await start({ elapsed: () => systemClock.elapsed() + aheadMs });
      await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
      await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
      aheadMs = 60 * 60_000;
      await eventually(() => machine.read().then(() => true));
      await expect(machine.log.beat()).rejects.toThrow("it is a standby, or read-only");
      // The database that has taken its place waits for so long.
      await expect(machine.keeper.read(machine.position, 1000, 61_000)).rejects.toThrow(
        "this server has written nothing to it for too long",
      );
      aheadMs = 61 * 60_000;
      await expect(machine.read()).rejects.toThrow("this server has written nothing to it for too long");
      await admin.query("SET default_transaction_read_only = off");
      await admin.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} RESET default_transaction_read_only`);
      await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
      await eventually(() => machine.log.beat().then(() => true));
      await machine.read();
    });

    test("is a copy, made with the same server: it has another log", { tags: ["deep"] }, async () => {
      const first = await start();
      const { logId } = await appended(first, "#a");
      await first.keeper.close();
      await admin.end();
      const other = await connected(server.url("template1"));
      await other.query("CREATE DATABASE copied TEMPLATE postgres");
      await other.end();
      const machine = await start({}, server.url("copied"));
      expect(machine.position).toMatchObject({ seq: 1 });
      expect(machine.position.logId).not.toBe(logId);
    });

    test("is another one for a while: on its return another log begins, because of the purges in between", {
      tags: ["deep"],
    }, async () => {
      const first = await start();
      const { logId } = await appended(first, "#a");
      await first.keeper.close();
      const other = await ownServer();
      const second = await start({ folder: first.folder }, other.url("postgres"));
      await appended(second, "#a");
      await second.keeper.close();
      machines = [];
      const back = await start({ folder: first.folder });
      expect(back.position.logId).not.toBe(logId);
    });

    test("accepts no more connections: no machine starts, which says why, and one that runs does with what it has", {
      tags: ["deep"],
    }, async () => {
      const own = await ownServer({ max_connections: "8", superuser_reserved_connections: "0", max_wal_senders: "0" });
      const at = own.url("postgres");
      const a = await start({}, at);
      const others: pg.Client[] = [];
      const fill = async (): Promise<void> => {
        const client = await connected(at).catch(() => null);
        if (client === null) return;
        others.push(client);
        await fill();
      };
      await fill();
      const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
      await expect(MachineUnderTest.start(at, { folder })).rejects.toThrow(
        "it accepts no more connections (max_connections)",
      );
      const purges = await Promise.all(Array.from({ length: 20 }, (_, each) => appended(a, `#${each}`)));
      expect(purges.map(({ settlesInMs }) => settlesInMs)).toEqual(purges.map(() => 0));
      await Promise.all(others.map((client) => client.end()));
      await eventually(() => start({ folder }, at));
      expect(await appended(a, "#after")).toMatchObject({ settlesInMs: 0 });
    });

    test("was made by a later version: the server does not start", { tags: ["deep"] }, async () => {
      await (await start()).keeper.close();
      await admin.query("UPDATE tidemark_log_format SET format = 99");
      await expect(start()).rejects.toThrow("a later version of tidemark created it (format 99");
      machines = [];
    });
  });

  test("a user who may not create the tables is refused at the start and at a check, with what allows it", async () => {
    await admin.query('CREATE ROLE "Half" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    const at = url.replace("tidemark@", "Half@");
    const words = 'may not create the log\'s tables; allow it with: GRANT CREATE ON SCHEMA public TO "Half"';
    await expect(MachineUnderTest.start(at)).rejects.toThrow(words);
    await expect(check(at)).rejects.toThrow(words);
    await admin.query('GRANT CREATE ON SCHEMA public TO "Half"');
    await check(at);
    await start({}, at);
  });

  test("a database whose encoding cannot write every purge is refused at the start and at a check", async () => {
    await admin.query("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    const words = "its encoding, LATIN1, cannot store every purge; create it with: createdb -T template0 -E UTF8";
    await expect(MachineUnderTest.start(server.url("latin"))).rejects.toThrow(words);
    await expect(check(server.url("latin"))).rejects.toThrow(words);
  });
});
