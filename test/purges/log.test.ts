import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { Log, type LogSettings, type Sql } from "../../worker/purges/log.ts";
import type { AppendRequest } from "../../worker/purges/log-contract.ts";
import { sqlOf } from "../engine/memory-log.ts";

const DAY_MS = 24 * 3600 * 1000;
const settings: LogSettings = { replyKeys: 100, heldKeys: 1000, auditMs: 30 * DAY_MS };

function purge(purgeKeys: string[], rest: Partial<AppendRequest> = {}): AppendRequest {
  return {
    id: null,
    content: JSON.stringify(purgeKeys),
    purgeKeys,
    accepted: { urls: 0, tags: purgeKeys.length, prefixes: 0, hosts: 0, everything: false },
    repeatAfterMs: null,
    reason: null,
    by: "test",
    since: null,
    leaseMs: 1000,
    skewMs: 250,
    ...rest,
  };
}

class World {
  readonly database = new DatabaseSync(":memory:");
  now = 0;
  #ids = 0;

  /** A log over the same storage: a restart. */
  open(change: Partial<LogSettings> = {}, sql: Sql = sqlOf(this.database)): Log {
    return new Log(
      sql,
      { ...settings, ...change },
      () => this.now,
      () => `log-${++this.#ids}`,
    );
  }
}

describe("the purge log", () => {
  test("numbers rise by one, also over a restart, and the log stays the same log", () => {
    const world = new World();
    expect(world.open().append(purge(["#a"]))).toMatchObject({ seq: 1, logId: "log-1" });
    expect(world.open().append(purge(["#b"]))).toMatchObject({ seq: 2, logId: "log-1" });
  });

  test("a reader hears all that came after its position, each key with its highest number (R12)", () => {
    const log = new World().open();
    for (const key of ["#a", "#b", "#a"]) log.append(purge([key]));
    expect(log.read({ logId: "log-1", seq: 1 }, 1000)).toEqual({
      logId: "log-1",
      from: 1,
      to: 3,
      floor: 0,
      purged: [
        ["#a", 3],
        ["#b", 2],
      ],
      leaseMs: 1000,
    });
    expect(log.read({ logId: "log-1", seq: 3 }, 1000)).toMatchObject({ from: 3, to: 3, purged: [] });
  });

  test("a reader of another log hears everything", () => {
    const log = new World().open();
    log.append(purge(["#a"]));
    expect(log.read({ logId: "other", seq: 9 }, 1000)).toMatchObject({ from: 0, to: 1, purged: [["#a", 1]] });
  });

  test("story 16: a reader that is ahead of the log shows that storage went back, and the log becomes another (R13)", () => {
    const log = new World().open();
    log.append(purge(["#a"]));
    expect(log.read({ logId: "log-1", seq: 5 }, 1000)).toMatchObject({ logId: "log-2", from: 0, to: 1 });
    expect(log.append(purge(["#b"]))).toMatchObject({ logId: "log-2", seq: 2 });
  });

  test("story 16: a purge by a reader that is ahead goes into the new log, so that nothing of the old one outlives it (R13)", () => {
    const log = new World().open();
    log.append(purge(["#a"]));
    const result = log.append(purge(["#b"], { since: { logId: "log-1", seq: 2 } }));
    expect(result).toMatchObject({ logId: "log-2", seq: 2, delta: { logId: "log-2", from: 0, to: 2 } });
  });

  test("a reader that is too far behind gets a bounded reply, and the floor covers the rest", () => {
    const log = new World().open({ replyKeys: 2 });
    for (const key of ["#a", "#b", "#c", "#d"]) log.append(purge([key]));
    expect(log.read(null, 1000)).toMatchObject({
      to: 4,
      floor: 2,
      purged: [
        ["#d", 4],
        ["#c", 3],
      ],
    });
  });

  test("a purge that does not fit into a reply whole is covered by the floor whole", () => {
    const log = new World().open({ replyKeys: 2 });
    log.append(purge(["#a", "#b", "#c"]));
    expect(log.read(null, 1000)).toMatchObject({ to: 1, floor: 1, purged: [] });
  });

  test("a failure half-way through a purge undoes all of it (promise 5)", () => {
    const world = new World();
    const log = world.open();
    const sql = sqlOf(world.database);
    const failing = world.open(
      {},
      {
        transaction: sql.transaction,
        exec: (statement, ...bindings) => {
          if (bindings.includes("#third")) throw new Error("disk full");
          return sql.exec(statement, ...bindings);
        },
      },
    );
    log.append(purge(["#a"]));
    expect(() => failing.append(purge(["#first", "#second", "#third"], { id: "x" }))).toThrow("disk full");
    expect(log.read(null, 1000)).toMatchObject({ to: 1, purged: [["#a", 1]] });
    expect(log.append(purge(["#b"], { id: "x" }))).toMatchObject({ seq: 2, replayed: false });
  });

  test("the same id with the same content happens once, with other content not at all", () => {
    const world = new World();
    const log = world.open();
    world.now = 5;
    expect(log.append(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 5, replayed: false });
    world.now = 9;
    expect(world.open().append(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 5, replayed: true });
    expect(log.append(purge(["#b"], { id: "x" }))).toEqual({ kind: "conflict" });
    expect(log.read(null, 1000).to).toBe(1);
  });

  test("story 30: a repeated purge has a number of its own, happens once, and survives a restart (R20)", () => {
    const world = new World();
    world.open().append(purge(["#a", "#b"], { id: "x", repeatAfterMs: 5000, reason: "replicas lag" }));
    world.now = 4999;
    world.open().runDue();
    expect(world.open().read(null, 1000)).toMatchObject({ to: 1 });
    world.now = 5000;
    const log = world.open();
    expect(log.nextDueAt()).toBe(5000);
    log.runDue();
    log.runDue();
    const { to, purged } = log.read(null, 1000);
    expect({ to, purged: new Map(purged) }).toEqual({
      to: 2,
      purged: new Map([
        ["#a", 2],
        ["#b", 2],
      ]),
    });
    expect(log.nextDueAt()).toBeNull();
    expect(log.append(purge(["#a", "#b"], { id: "x", repeatAfterMs: 5000 }))).toMatchObject({ seq: 1, replayed: true });
    expect(log.nextDueAt()).toBeNull(); // a replay schedules nothing
  });

  test("10,000 items are one purge with one number", () => {
    const log = new World().open({ replyKeys: 20_000, heldKeys: 20_000 });
    const keys = Array.from({ length: 10_000 }, (_, index) => `#${index}`);
    expect(log.append(purge(keys))).toMatchObject({ seq: 1 });
    expect(log.read(null, 1000).purged).toHaveLength(10_000);
  });

  test("the log holds a bounded number of keys, forgets audit rows after their time, and the floor covers the rest", () => {
    const world = new World();
    const log = world.open({ heldKeys: 10, auditMs: DAY_MS });
    log.append(purge(["#old"], { id: "old" }));
    world.now = 2 * DAY_MS;
    for (let index = 2; index <= 256; index++) log.append(purge([`#${index}`]));
    const { floor, purged } = log.read(null, 1000);
    expect({ floor, count: purged.length }).toEqual({ floor: 246, count: 10 });
    expect(log.append(purge(["#other"], { id: "old" }))).toMatchObject({ kind: "appended", replayed: false });
  });

  test("a purge that alone names more than the log holds is covered by the floor at once", () => {
    const log = new World().open({ heldKeys: 300 });
    log.append(purge(Array.from({ length: 1000 }, (_, index) => `#${index}`)));
    expect(log.read(null, 1000)).toMatchObject({ to: 1, floor: 1, purged: [] });
  });

  describe("a receipt settles after the longest lease that can be alive (R6)", () => {
    const settlesInMs = (log: Log, change: Partial<AppendRequest> = {}) => {
      const result = log.append(purge(["#a"], change));
      return result.kind === "appended" ? result.settlesInMs : undefined;
    };

    test("one lease and the allowance", () => {
      expect(settlesInMs(new World().open())).toBe(1250);
    });

    test("story 18: a lease that was shortened counts for a day after it was last granted", () => {
      const world = new World();
      const log = world.open();
      log.read(null, 5000);
      world.now = 4000;
      log.read(null, 1000);
      expect(settlesInMs(log)).toBe(5250);
      world.now = DAY_MS;
      expect(settlesInMs(log)).toBe(5250);
      world.now = DAY_MS + 1;
      log.read(null, 1000);
      expect(settlesInMs(log)).toBe(1250);
    });

    test("a restart forgets neither the longest lease nor when it was last granted", () => {
      const world = new World();
      world.open().read(null, 5000);
      world.now = 7_200_000;
      world.open().read(null, 5000); // two hours later it is still granted
      world.now = DAY_MS + 3_600_000;
      expect(settlesInMs(world.open())).toBe(5250);
      world.now = DAY_MS + 7_200_001;
      expect(settlesInMs(world.open())).toBe(1250);
    });
  });
});
