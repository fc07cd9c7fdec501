import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { LONGEST_USE_MS } from "../../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { noPostgres, type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { byDepth, inGate } from "../../suite/depth.ts";
import { type MachineOptions, MachineUnderTest } from "./machine-under-test.ts";

const LONG_MS = LONGEST_USE_MS + 250;
const READERS_BEFORE = "machines that used the earlier log";

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

describe.skipIf(noPostgres)("a log in PostgreSQL that was put back (R13)", { timeout: 60_000 }, () => {
  let server: PostgresServer;
  let machines: MachineUnderTest[];
  let database: string;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop(), 60_000);

  beforeEach(async () => {
    machines = [];
    database = `restored_${++databases}`;
    await asAdmin(`CREATE DATABASE ${database}`, "postgres");
  });
  afterEach(async () => {
    for (const machine of machines) await machine.stop();
  }, 60_000);

  async function asAdmin(text: string, at = database) {
    const client = new pg.Client({ connectionString: server.url(at) });
    await client.connect();
    try {
      return (await client.query(text)).rows as unknown[];
    } finally {
      await client.end();
    }
  }

  async function start(options: MachineOptions = {}, at = database): Promise<MachineUnderTest> {
    const machine = await MachineUnderTest.start(server.url(at), options);
    machines.push(machine);
    return machine;
  }

  /** Ends a machine as SIGTERM does, with its folder, which has its pages, still there. */
  async function end(machine: MachineUnderTest): Promise<void> {
    await machine.keeper.close();
    machines = machines.filter((each) => each !== machine);
  }

  async function appended(machine: MachineUnderTest, key: string) {
    const result = await machine.keeper.append(purge([key]));
    if (result.kind === "conflict") throw new Error("no conflict here");
    return result;
  }

  /** Two machines; the second stores a page and ends, the log is saved, and the first purges the page, and ends. */
  async function purgedSince(
    save: () => unknown,
  ): Promise<{ first: string; second: string; stored: Stamp; last: Stamp }> {
    const [first, second] = [await start(), await start()];
    await appended(first, "#before");
    await second.read();
    const stored = second.position;
    await end(second);
    save();
    expect(await appended(first, "#page")).toMatchObject({ settlesInMs: 0 });
    const last = first.position;
    await end(first);
    return { first: first.folder, second: second.folder, stored, last };
  }

  const restores: [string, (restore: (into: string, ...args: string[]) => void) => unknown][] = [
    ["by pg_restore --clean", (restore) => restore(database, "--clean")],
    ["by pg_restore --clean in four jobs", (restore) => restore(database, "--clean", "--jobs=4")],
    [
      "by its data alone",
      async (restore) => {
        const tables = await asAdmin("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
        const names = (tables as { tablename: string }[]).map(({ tablename }) => tablename);
        await asAdmin(`TRUNCATE ${names.join(", ")}`);
        restore(database, "--data-only");
      },
    ],
    [
      "into a database made anew under the same name",
      async (restore) => {
        await asAdmin(`DROP DATABASE ${database}`, "postgres");
        await asAdmin(`CREATE DATABASE ${database}`, "postgres");
        restore(database);
      },
    ],
  ];

  test.each(inGate(1, byDepth({ test: [], gate: restores.slice(0, 1), all: restores })))(
    "from a dump, %s, is another log, also for a machine that knows of no later purge",
    async (_, by) => {
      let restore: (into: string, ...args: string[]) => void;
      const { second, stored, last } = await purgedSince(() => {
        restore = server.dump(database);
      });
      await by(restore!);
      const back = await start({ folder: second });
      expect(back.check("#page", stored)).toBe("unverifiable");
      expect(back.told).toEqual(["replaced"]);
      const { seq, logId } = await appended(back, "#other");
      expect(seq).toBe(last.seq);
      expect([stored.logId, last.logId]).not.toContain(logId); // or one token would name two purges
    },
  );

  test("twice from one dump is another log each time", { tags: ["deep"] }, async () => {
    const machine = await start();
    await appended(machine, "#a");
    const restore = server.dump(database);
    const ids = new Set([machine.position.logId]);
    for (let times = 0; times < 2; times++) {
      restore(database, "--clean");
      await machine.read();
      ids.add(machine.position.logId);
    }
    expect(ids.size).toBe(3);
  });

  test("while machines run: each tells so once, and the rows of machines that a dump brings back are gone", {
    tags: ["deep"],
  }, async () => {
    const gone = await start({ name: "gone:/cache" });
    const restore = server.dump(database);
    await end(gone);
    const running = [await start({ name: "web-1:/cache" }), await start({ name: "web-2:/cache" })];
    await appended(running[0]!, "#a");
    for (const machine of running) await machine.read();
    restore(database, "--clean");
    for (const machine of [...running, ...running]) await machine.read();
    expect(running.map(({ told }) => told)).toEqual([["replaced"], ["replaced"]]);
    expect(await asAdmin("SELECT name FROM tidemark_log_machines ORDER BY name")).toEqual([
      { name: "web-1:/cache" },
      { name: "web-2:/cache" },
    ]);
    await appended(running[0]!, "#b");
    for (const machine of running) await machine.read();
    expect(running.map(({ told }) => told)).toEqual([["replaced"], ["replaced"]]);
  });

  test("counts for a day with the longest use, because a machine without a row may still run", {
    tags: ["deep"],
  }, async () => {
    await end(await start());
    const restore = server.dump(database);
    const unknown = await start();
    await unknown.die(); // it is cut off, and its workers may answer
    machines = [];
    restore(database, "--clean");
    const known = await start(); // in a new folder, which tells nothing of an earlier log
    const receipt = await appended(known, "#a");
    expect(receipt).toMatchObject({ settlesInMs: LONG_MS, maySettleSooner: false });
    await known.log.confirm(known.position);
    const waiting = { settled: false, waitsFor: [READERS_BEFORE] };
    expect(await known.keeper.find(receipt.seq)).toMatchObject(waiting);
    expect(await known.keeper.list(null, 1)).toMatchObject({ purges: [waiting] });
    await asAdmin("UPDATE tidemark_log SET longest_until = NULL"); // or a day later
    expect(await appended(known, "#c")).toMatchObject({ settlesInMs: 0 });
  });

  test("until its owner says how many machines run, if all of these have reached it", async () => {
    const names = ["web-1:/cache", "web-2:/cache"];
    const folders: string[] = [];
    for (const name of names) folders.push((await start({ name })).folder);
    for (const machine of machines.splice(0)) await machine.die();
    const comeBack = (which: number) => start({ name: names[which]!, folder: folders[which]! });
    const allMet = async (count: number) => {
      const refused = await asAdmin(`SELECT tidemark_log_all_met(${count})`).catch((cause: pg.DatabaseError) => cause);
      return refused instanceof Error ? `${refused.message}. ${(refused as pg.DatabaseError).detail}` : "done";
    };
    await asAdmin("SELECT tidemark_log_replace()");
    // The rows were brought along, and look alive.
    expect(await allMet(2)).toMatch(/^all 2 machines must have reached this database: 0 have, .* They are: none$/);
    const first = await comeBack(0);
    expect(await allMet(2)).toMatch(/: 1 have, and nothing has changed\. They are: web-1:\/cache$/);
    await comeBack(1);
    expect(await allMet(3)).toMatch(/: 2 have, .* They are: web-1:\/cache, web-2:\/cache$/);
    expect(await allMet(1)).toMatch(/: 2 have, /);
    const [web1] = ["name = 'web-1:/cache'"];
    await asAdmin(`UPDATE tidemark_log_machines SET heard_at = heard_at - interval '1 minute' WHERE ${web1}`);
    expect(await allMet(2)).toMatch(/They are: web-2:\/cache\. Not heard of for 30 seconds: web-1:\/cache$/);
    expect(await appended(first, "#a")).toMatchObject({ settlesInMs: LONG_MS, maySettleSooner: false });
    await first.log.beat();
    expect(await allMet(2)).toBe("done");
    expect(await appended(first, "#b")).toMatchObject({ settlesInMs: 0 });
  });

  test("so does a log that was made new in place of one that a machine has read, and no other", {
    tags: ["deep"],
  }, async () => {
    const machine = await start();
    expect(await appended(machine, "#a")).toMatchObject({ settlesInMs: 0 });
    await end(machine);
    await asAdmin(`CREATE DATABASE ${database}_new`, "postgres");
    const stranger = await start({}, `${database}_new`);
    expect(await appended(stranger, "#a")).toMatchObject({ settlesInMs: 0 });
    const moved = await start({ folder: machine.folder }, `${database}_new`);
    expect(moved.told).toEqual(["replaced"]);
    expect(await appended(stranger, "#b")).toMatchObject({ settlesInMs: LONG_MS, maySettleSooner: false });
  });

  test("control: a log whose machines restart stays the same one", { tags: ["deep"] }, async () => {
    const machine = await start();
    await appended(machine, "#a");
    const stamp = machine.position;
    await end(machine);
    await asAdmin("VACUUM FULL");
    const back = await start({ folder: machine.folder });
    expect(back.position).toEqual(stamp);
    expect(back.told).toEqual([]);
    expect(await appended(back, "#b")).toMatchObject({ settlesInMs: 0 });
  });

  describe("by a copy of the data directory", () => {
    let own: PostgresServer;
    let putBack: () => void;
    let purged: Awaited<ReturnType<typeof purgedSince>>;

    beforeEach(async () => {
      own = await startPostgres();
      const shared = server;
      server = own;
      database = "postgres";
      try {
        const [first, second] = [await start(), await start()];
        await appended(first, "#before");
        await second.read();
        const stored = second.position;
        for (const machine of [first, second]) await end(machine);
        await own.crash();
        putBack = own.copyFiles();
        await own.start();
        const again = await start({ folder: first.folder });
        expect(await appended(again, "#page")).toMatchObject({ settlesInMs: 0 });
        purged = { first: first.folder, second: second.folder, stored, last: again.position };
        await end(again);
        await own.crash();
        putBack();
        await own.start();
      } finally {
        server = shared;
      }
    }, 60_000);
    afterEach(async () => {
      for (const machine of machines.splice(0)) await machine.stop();
      await own.stop();
    }, 60_000);

    const startThere = async (folder: string) => {
      const machine = await MachineUnderTest.start(own.url("postgres"), { folder });
      machines.push(machine);
      return machine;
    };

    test("is another log as soon as a machine reads it that has read of a later purge, which every machine tells", {
      tags: ["deep"],
    }, async () => {
      const unaware = await startThere(purged.second);
      expect(unaware.check("#page", purged.stored)).toBe("not-purged"); // nothing that it can see has changed
      const witness = await startThere(purged.first);
      await unaware.read();
      expect(unaware.check("#page", purged.stored)).toBe("unverifiable");
      expect([unaware.told, witness.told]).toEqual([["replaced"], ["replaced"]]);
      expect(witness.position.logId).not.toBe(purged.last.logId);
    });

    test("is another log for everybody once its owner has said so", { tags: ["deep"] }, async () => {
      const client = new pg.Client({ connectionString: own.url("postgres") });
      await client.connect();
      await client.query("SELECT tidemark_log_replace()");
      await client.end();
      const unaware = await startThere(purged.second);
      expect(unaware.check("#page", purged.stored)).toBe("unverifiable");
      expect(unaware.told).toEqual(["replaced"]);
    });
  });

  /** A machine that has purged, and whose log another version has made: it has this format, and lacks this. */
  async function madeWith(format: number, without: string) {
    const machine = await start();
    await appended(machine, "#a");
    await machine.die();
    machines = [];
    await asAdmin(`UPDATE tidemark_log_format SET format = ${format}; DROP ${without};`);
    return machine;
  }

  test("was made by the version before: what is stored can still be shown, and the trail stays", async () => {
    const machine = await madeWith(4, "FUNCTION tidemark_log_append");
    const next = await start({ folder: machine.folder });
    expect(next.position).toEqual(machine.position);
    expect(await next.keeper.list(null, 10)).toMatchObject({ purges: [{ seq: 1 }] });
    expect(await appended(next, "#b")).toMatchObject({ seq: 2, settlesInMs: 0 });
  });

  test("was made by a version before that: another log begins, as in an empty database", async () => {
    const machine = await madeWith(3, "INDEX tidemark_log_undated");
    const next = await start({ folder: machine.folder });
    expect(next.told).toEqual(["replaced"]);
    expect(await appended(next, "#b")).toMatchObject({ seq: 1, settlesInMs: LONG_MS });
  });
});
