import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { describe, expect, test } from "vitest";
import { sqlOver } from "../../../server/log/node-sql.ts";
import { type AppendRequest, ITEM_WORDS } from "../../../worker/purges/log/log-contract.ts";
import { LOG_SETTINGS, type LogSettings } from "../../../worker/purges/log/log-settings.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { toldCount, toldOf } from "../view/delta.ts";
import { purge } from "./a-purge.ts";

const DAY_MS = 24 * 3600 * 1000;
const settings: Partial<LogSettings> = { maxReplyKeys: 100, maxHeldKeys: 1000 };

class World {
  readonly database = new DatabaseSync(":memory:");
  now = 0;
  #ids = 0;

  /** A log over the same storage: a restart. */
  open(change: Partial<LogSettings> = {}, sql: Sql = sqlOver(this.database)): SqlPurgeLog {
    return new SqlPurgeLog(
      sql,
      { ...settings, ...change },
      () => this.now,
      () => `log-${++this.#ids}`,
    );
  }
}

describe("the purge log", () => {
  test.each(["accepted", "purge_keys"])(
    "a row whose %s the disk has damaged is missing from the trail, and no other",
    (column) => {
      const world = new World();
      const log = world.open();
      for (const key of ["#a", "#b", "#c"]) log.append(purge([key]));
      world.database.prepare(`UPDATE audit SET ${column} = ? WHERE seq = 2`).run('{"urls"\0');
      const seqsOf = (before: number | null, limit: number) => {
        const { purges, next } = log.list(before, limit);
        return { seqs: purges.map(({ seq }) => seq), next };
      };
      expect(seqsOf(null, 10)).toEqual({ seqs: [3, 1], next: null });
      expect(seqsOf(null, 1)).toEqual({ seqs: [3], next: 3 });
      expect(seqsOf(3, 1)).toEqual({ seqs: [1], next: null });
      expect([1, 2, 3, 4].map((seq) => log.find(seq)?.seq ?? null)).toEqual([1, null, 3, null]);
    },
  );

  test("numbers rise by one, after a restart, too, and the log keeps its id", () => {
    const world = new World();
    expect(world.open().append(purge(["#a"]))).toMatchObject({ seq: 1, logId: "log-1" });
    expect(world.open().append(purge(["#b"]))).toMatchObject({ seq: 2, logId: "log-1" });
  });

  test("a reader gets all purges after its position, each key with its highest number (R12)", () => {
    const log = new World().open();
    for (const key of ["#a", "#b", "#a"]) log.append(purge([key]));
    const { items, ...delta } = log.read({ logId: "log-1", seq: 1 }, 1000);
    expect(delta).toEqual({
      logId: "log-1",
      from: 1,
      to: 3,
      unread: null,
      truncatedAt: 0,
      floor: 0,
      heads: { hard: 3, soft: 0, invalidate: 0 },
      leaseMs: 1000,
    });
    expect(toldOf({ ...delta, items }, ["#a", "#b"])).toEqual([
      ["#a", 3],
      ["#b", 2],
    ]);
    const head = log.read({ logId: "log-1", seq: 3 }, 1000);
    expect({ from: head.from, to: head.to, count: toldCount(head) }).toEqual({ from: 3, to: 3, count: 0 });
  });

  test("if a reader without a name cannot be recorded, it gets no lease, because no receipt would wait for it (R25)", () => {
    const world = new World();
    let isFull = false;
    const sql = sqlOver(world.database);
    const log = world.open(
      {},
      {
        ...sql,
        exec: (statement, ...bindings) => {
          if (isFull && statement.startsWith("UPDATE state SET longest_lease")) throw new Error("disk full");
          return sql.exec(statement, ...bindings);
        },
      },
    );
    for (world.now = 0; world.now <= 2 * DAY_MS; world.now += DAY_MS / 2) log.read(null, 1000, 1000, "a reader");
    isFull = true;
    expect(() => log.read(null, 1000)).toThrow("disk full");
    isFull = false;
    log.read(null, 1000);
    isFull = true;
    world.now += DAY_MS / 12;
    expect(log.read(null, 1000)).toMatchObject({ leaseMs: 1000 });
  });

  test("a reader of another log gets all purges", () => {
    const log = new World().open();
    log.append(purge(["#a"]));
    const delta = log.read({ logId: "other", seq: 9, unread: { from: 0, to: 8 } }, 1000);
    expect(delta).toMatchObject({ from: 0, to: 1, unread: null });
    expect(toldOf(delta, ["#a"])).toEqual([["#a", 1]]);
  });

  test("story 16: a reader that is ahead shows that storage went back, and another log begins (R13)", () => {
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

  describe("sends the newest purges first to a reader that is far behind, and says where the reply ends (R12)", () => {
    const KEYS = ["#a", "#b", "#c", "#d", "#e"];
    const filledLog = () => {
      const log = new World().open({ maxReplyKeys: 2 });
      for (const key of KEYS) log.append(purge([key]));
      return log;
    };

    test("it leaves out no purge above that number", () => {
      const delta = filledLog().read(null, 1000);
      expect(delta).toMatchObject({ from: 0, to: 5, truncatedAt: 3, floor: 0 });
      expect(toldOf(delta, KEYS)).toEqual([
        ["#e", 5],
        ["#d", 4],
      ]);
    });

    test("the next reply has the new purges, and then the ones that the reader missed", () => {
      const log = filledLog();
      log.append(purge(["#b"]));
      const since = { logId: "log-1", seq: 5, unread: { from: 0, to: 3 } };
      const delta = log.read(since, 1000);
      expect(delta).toMatchObject({ from: 5, to: 6, unread: { from: 0, to: 3 }, truncatedAt: 1 });
      expect(toldOf(delta, KEYS)).toEqual([
        ["#b", 6],
        ["#c", 3],
      ]);
      const last = log.read({ logId: "log-1", seq: 6, unread: { from: 0, to: 1 } }, 1000);
      expect(last).toMatchObject({ from: 6, to: 6, unread: { from: 0, to: 1 }, truncatedAt: 0 });
      expect(toldOf(last, KEYS)).toEqual([["#a", 1]]);
    });

    test("a purge is sent whole or not at all", () => {
      const log = new World().open({ maxReplyKeys: 3 });
      log.append(purge(["#a", "#b"]));
      log.append(purge(["#c", "#d"]));
      const delta = log.read(null, 1000);
      expect({ truncatedAt: delta.truncatedAt, count: toldCount(delta) }).toEqual({ truncatedAt: 1, count: 2 });
    });

    test("a reply with room for exactly all keys is complete", () => {
      const log = new World().open({ maxReplyKeys: 5 });
      for (const key of KEYS) log.append(purge([key]));
      const delta = log.read(null, 1000);
      expect({ truncatedAt: delta.truncatedAt, count: toldCount(delta) }).toEqual({ truncatedAt: 0, count: 5 });
    });

    test("a purge with more keys than any reply has room for is covered by the floor", () => {
      const log = new World().open({ maxReplyKeys: 2 });
      log.append(purge(["#a", "#b"]));
      expect(log.read(null, 1000)).toMatchObject({ to: 1, floor: 0, truncatedAt: 0 });
      log.append(purge(["#a", "#b", "#c"]));
      const delta = log.read(null, 1000);
      expect({ to: delta.to, floor: delta.floor, count: toldCount(delta) }).toEqual({ to: 2, floor: 2, count: 0 });
    });
  });

  test("the reply to a purge brings its caller up to that purge (R20)", () => {
    const log = new World().open();
    log.append(purge(["#a"]));
    const result = log.append(purge(["#b"], { since: { logId: "log-1", seq: 1 } }));
    if (result.kind !== "appended") throw new Error("no conflict here");
    expect(result.delta).toMatchObject({ from: 1, to: 2 });
    expect(toldOf(result.delta, ["#a", "#b"])).toEqual([["#b", 2]]);
  });

  test("a new isolate needs one reply of at most 256 KiB for 10,000 purged keys", () => {
    const log = new World().open({ maxReplyKeys: LOG_SETTINGS.maxReplyKeys, maxHeldKeys: LOG_SETTINGS.maxHeldKeys });
    for (let batch = 0; batch < 10; batch++) {
      log.append(purge(Array.from({ length: 1000 }, (_, index) => `#${batch}:${index}`)));
    }
    const delta = log.read(null, 1000);
    expect({ truncatedAt: delta.truncatedAt, count: toldCount(delta) }).toEqual({ truncatedAt: 0, count: 10_000 });
    expect(serialize(delta).byteLength).toBeLessThan(128 * 1024);
    expect(LOG_SETTINGS.maxReplyKeys * ITEM_WORDS * 4).toBeLessThan(255 * 1024);
  });

  test("a key has its own number in each mode (R10)", () => {
    const log = new World().open();
    for (const mode of ["hard", "soft", "invalidate", "soft"] as const) log.append(purge(["#a"], { mode }));
    const delta = log.read(null, 1000);
    expect(delta.heads).toEqual({ hard: 1, soft: 4, invalidate: 3 });
    expect(toldOf(delta, ["#a"])).toEqual([["#a", 1]]);
    expect(toldOf(delta, ["#a"], "soft")).toEqual([["#a", 4]]);
    expect(toldOf(delta, ["#a"], "invalidate")).toEqual([["#a", 3]]);
  });

  test("a failure halfway through a purge undoes all of it (promise 5)", () => {
    const world = new World();
    const log = world.open();
    const sql = sqlOver(world.database);
    const failing = world.open(
      {},
      {
        ...sql,
        exec: (statement, ...bindings) => {
          if (statement.includes("INTO ids")) throw new Error("disk full");
          return sql.exec(statement, ...bindings);
        },
      },
    );
    log.append(purge(["#a"]));
    expect(() => failing.append(purge(["#first", "#second", "#third"], { id: "x" }))).toThrow("disk full");
    const delta = log.read(null, 1000);
    expect({ to: delta.to, count: toldCount(delta) }).toEqual({ to: 1, count: 1 });
    expect(log.list(null, 10).purges.map(({ seq }) => seq)).toEqual([1]);
    expect(log.append(purge(["#b"], { id: "x" }))).toMatchObject({ seq: 2, replayed: false });
  });

  test("the same id with the same content is one purge, and with other content a conflict", () => {
    const world = new World();
    const log = world.open();
    world.now = 5;
    expect(log.append(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 5, replayed: false });
    world.now = 9;
    expect(world.open().append(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 5, replayed: true });
    expect(log.append(purge(["#b"], { id: "x" }))).toEqual({ kind: "conflict" });
    expect(log.append(purge(["#a"], { id: "x", mode: "soft" }))).toEqual({ kind: "conflict" });
    expect(log.read(null, 1000).to).toBe(1);
  });

  test("story 30: a repetition has its own number, happens once, and survives a restart (R20)", () => {
    const world = new World();
    world.open().append(purge(["#a", "#b"], { id: "x", repeatAfterMs: 5000, reason: "replicas lag" }));
    world.now = 4999;
    expect(world.open().nextDueInMs()).toBe(1);
    world.open().runDue();
    expect(world.open().read(null, 1000)).toMatchObject({ to: 1 });
    world.now = 5000;
    const log = world.open();
    expect(log.nextDueInMs()).toBe(0);
    log.runDue();
    log.runDue();
    const delta = log.read(null, 1000);
    expect({ to: delta.to, told: new Map(toldOf(delta, ["#a", "#b"])) }).toEqual({
      to: 2,
      told: new Map([
        ["#a", 2],
        ["#b", 2],
      ]),
    });
    expect(log.find(2)).toMatchObject({ repeatOf: 1, id: null, reason: "replicas lag", by: "test", at: 5000 });
    world.now = 6249;
    expect(log.find(2)).toMatchObject({ settled: false });
    world.now = 6250;
    expect(log.find(2)).toMatchObject({ settled: true });
    expect(log.nextDueInMs()).toBeNull();
    expect(log.append(purge(["#a", "#b"], { id: "x", repeatAfterMs: 5000 }))).toMatchObject({ seq: 1, replayed: true });
    expect(log.nextDueInMs()).toBeNull(); // a replay schedules nothing
  });

  test("10,000 items are one purge with one number", () => {
    const log = new World().open({ maxReplyKeys: 20_000, maxHeldKeys: 20_000 });
    const keys = Array.from({ length: 10_000 }, (_, index) => `#${index}`);
    expect(log.append(purge(keys))).toMatchObject({ seq: 1 });
    expect(toldCount(log.read(null, 1000))).toBe(10_000);
  });

  describe("holds a bounded number of keys, and the floor covers the rest (R13)", () => {
    test("the oldest purges are deleted first, and whole", () => {
      const log = new World().open({ maxHeldKeys: 4 });
      for (const keys of [["#a"], ["#b", "#c"], ["#d"], ["#a"]]) log.append(purge(keys));
      expect(log.read(null, 1000)).toMatchObject({ to: 4, floor: 0 });
      log.append(purge(["#e"]));
      const delta = log.read(null, 1000);
      expect({ floor: delta.floor, count: toldCount(delta) }).toEqual({ floor: 2, count: 3 });
      log.append(purge(["#f"])); // there is room again
      expect(log.read(null, 1000).floor).toBe(2);
      log.append(purge(["#g"]));
      expect(log.read(null, 1000).floor).toBe(3);
    });

    test("a purge of more keys than the log holds is covered at once", () => {
      const log = new World().open({ maxReplyKeys: 2000, maxHeldKeys: 300 });
      log.append(purge(Array.from({ length: 1000 }, (_, index) => `#${index}`)));
      const delta = log.read(null, 1000);
      expect({ to: delta.to, floor: delta.floor, count: toldCount(delta) }).toEqual({ to: 1, floor: 1, count: 0 });
    });

    test("a key that is named twice in one purge counts once", () => {
      const log = new World().open({ maxHeldKeys: 2 });
      log.append(purge(["#a", "#a", "#a"]));
      expect(log.read(null, 1000).floor).toBe(0);
    });
  });

  describe("begins another log before its numbers run out (R13)", () => {
    test.each([
      [2, { seq: 2, logId: "log-1" }],
      [3, { seq: 3, logId: "log-1" }],
      [4, { seq: 1, logId: "log-2" }],
      [5, { seq: 2, logId: "log-2" }],
    ])("with three numbers, purge %i is %o", (count, expected) => {
      const log = new World().open({ maxSeq: 3 });
      for (let index = 1; index < count; index++) log.append(purge([`#${index}`]));
      expect(log.append(purge(["#last"]))).toMatchObject(expected);
    });

    test("the other log does not know the old numbers, and sends its readers everything from the start", () => {
      const log = new World().open({ maxSeq: 1 });
      log.append(purge(["#a"], { id: "x" }));
      log.append(purge(["#b"]));
      const delta = log.read({ logId: "log-1", seq: 1 }, 1000);
      expect(delta).toMatchObject({ logId: "log-2", from: 0, to: 1, floor: 0, heads: { hard: 1, soft: 0 } });
      expect(toldOf(delta, ["#a", "#b"])).toEqual([["#b", 1]]);
      expect(log.list(null, 10).purges.map(({ seq }) => seq)).toEqual([1]);
    });
  });

  test("storage in another format begins another log, whose receipts still wait for the old leases (R13, R6)", () => {
    const world = new World();
    world.open().append(purge(["#a"], { leaseMs: 5000 }));
    world.database.exec("UPDATE state SET form = 1");
    const log = world.open();
    expect(log.append(purge(["#b"]))).toMatchObject({ seq: 1, logId: "log-2", settlesInMs: 5250 });
    expect(toldOf(log.read(null, 1000), ["#a", "#b"])).toEqual([["#b", 1]]);
  });

  describe("deletes old audit rows and ids", () => {
    /** A first purge, and then enough purges for the log to prune old rows. */
    const afterFirst = (change: Partial<LogSettings>, laterMs: number, more = 255) => {
      const world = new World();
      const log = world.open({ auditRetentionMs: 3 * DAY_MS, idRetentionMs: 3 * DAY_MS, ...change });
      log.append(purge(["#first"], { id: "first" }));
      world.now = laterMs;
      for (let index = 0; index < more; index++) log.append(purge(["#more"], { id: `more ${index}` }));
      return log;
    };

    test.each([
      [3 * DAY_MS, true],
      [3 * DAY_MS + 1, false],
    ])("a row that is %i ms old, where three days are kept: %s", (laterMs, isKept) => {
      const log = afterFirst({}, laterMs);
      expect(log.find(1) !== null).toBe(isKept);
      expect(log.append(purge(["#first"], { id: "first" }))).toMatchObject({ replayed: isKept });
    });

    test.each([
      [99, true],
      [100, false],
    ])("the oldest, after a clock was ahead for %i purges: it is kept: %s", (ahead, isKept) => {
      const world = new World();
      const log = world.open();
      for (let seq = 1; seq <= 256; seq++) {
        if (seq > 256 - ahead) world.now = 100 * DAY_MS;
        log.append(purge(["#a"], { id: `${seq}` }));
      }
      world.now = 0;
      expect(log.find(1) !== null).toBe(isKept);
      expect(log.append(purge(["#a"], { id: "1" }))).toMatchObject({ replayed: isKept });
    });

    test.each([
      [256, true],
      [255, false],
    ])("the first of 256 rows, where %i are kept: %s", (maxAuditRows, isKept) => {
      expect(afterFirst({ maxAuditRows }, 0).find(1) !== null).toBe(isKept);
    });

    test.each([
      [10, DAY_MS, true],
      [10, DAY_MS + 1, false],
      [256, DAY_MS + 1, true],
      [255, DAY_MS + 1, false],
    ])(
      "the first of 256 ids, where %i are kept, after %i ms: %s; it is kept for at least a day",
      (maxIds, laterMs, isKept) => {
        const log = afterFirst({ maxIds }, laterMs);
        expect(log.append(purge(["#first"], { id: "first" }))).toMatchObject({ replayed: isKept });
      },
    );

    test("a row of the owner stays, however many forms were sent after it", () => {
      const log = new World().open({ maxAuditRows: 300, keptInvalidations: 100 });
      log.append(purge(["#first"], { by: "editor" }));
      for (let index = 0; index < 1023; index++) log.append(purge(["/form"], { mode: "invalidate", by: "edge" }));
      expect(log.list(null, 500).purges).toHaveLength(101);
      expect(log.find(1)).toMatchObject({ by: "editor" });
    });

    test("keys stay: a purge whose row was deleted is still sent", () => {
      const log = afterFirst({ maxAuditRows: 1 }, 0);
      expect(toldOf(log.read(null, 1000), ["#first"])).toEqual([["#first", 1]]);
    });
  });

  describe("its audit trail", () => {
    test("says who purged what, when and why, and whether it has settled by the log's clock", () => {
      const world = new World();
      world.now = 5;
      const log = world.open();
      log.append(purge(["#a", "/b"], { id: "x", reason: "typo", by: "editor", mode: "soft" }));
      const record = {
        seq: 1,
        at: 5,
        by: "editor",
        reason: "typo",
        mode: "soft",
        accepted: { urls: 0, tags: 2, prefixes: 0, hosts: 0, everything: false },
        purgeKeys: ["#a", "/b"],
        purgeKeyCount: 2,
        id: "x",
        repeatOf: null,
      };
      world.now = 5 + 1249;
      expect(log.find(1)).toEqual({ ...record, settled: false, settlesInMs: 1 });
      world.now = 5 + 1250;
      expect(world.open().find(1)).toEqual({ ...record, settled: true, settlesInMs: 0 });
      expect(log.find(2)).toBeNull();
    });

    test.each([
      [null, 2, [5, 4], 4],
      [4, 2, [3, 2], 2],
      [2, 2, [1], null],
      [4, 3, [3, 2, 1], null],
      [1, 2, [], null],
      [null, 0, [5], 5],
      [null, Number.NaN, [5], 5],
      [null, 1e9, [5, 4, 3, 2, 1], null],
    ])("below %s, at most %i: purges %j, and the next page lies below %s", (before, limit, seqs, next) => {
      const log = new World().open();
      for (let index = 0; index < 5; index++) log.append(purge(["#a"]));
      const page = log.list(before, limit);
      expect({ seqs: page.purges.map(({ seq }) => seq), next: page.next }).toEqual({ seqs, next });
    });

    test("a page has at most 500 rows", () => {
      const log = new World().open();
      for (let index = 0; index < 501; index++) log.append(purge(["#a"]));
      expect(log.list(null, 1e9)).toMatchObject({ purges: { length: 500 }, next: 2 });
    });

    test("a row keeps 2,000 characters of its keys (only whole keys) and their number", () => {
      const log = new World().open({ maxReplyKeys: 2000, maxHeldKeys: 2000 });
      const keyOf = (index: number) => `#${String(index).padStart(9, "0")}`;
      const keys = Array.from({ length: 201 }, (_, index) => keyOf(index));
      log.append(purge(keys));
      log.append(purge(keys.slice(0, 200)));
      log.append(purge([`/${"long".repeat(500)}`, "#short"]));
      expect(log.find(1)).toMatchObject({ purgeKeys: keys.slice(0, 200), purgeKeyCount: 201 });
      expect(log.find(2)).toMatchObject({ purgeKeys: keys.slice(0, 200), purgeKeyCount: 200 });
      expect(log.find(3)).toMatchObject({ purgeKeys: [], purgeKeyCount: 2 });
    });
  });

  describe("a receipt settles after the longest lease that can be alive (R6)", () => {
    const settlesInMs = (log: SqlPurgeLog, change: Partial<AppendRequest> = {}) => {
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
      world.now = DAY_MS + 3_600_001;
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
      world.now = DAY_MS + 7_200_000 + 3_600_001; // a grant of the hour after that need not be on record
      expect(settlesInMs(world.open())).toBe(1250);
    });

    test("if a route allows purges later than the lease, that time counts like a longer lease", () => {
      const world = new World();
      const log = world.open();
      expect(log.read(null, 1000, 60_000).leaseMs).toBe(1000);
      expect(settlesInMs(log)).toBe(60_250);
      expect(settlesInMs(new World().open(), { longestViewAgeMs: 30_000 })).toBe(30_250);
      world.now = DAY_MS + 3_600_001;
      expect(settlesInMs(log)).toBe(1250);
    });

    /** Makes this many reads in one second. Returns their grants, and that of a read in the next second. */
    const granted = (world: World, log: SqlPurgeLog, reads: number, leaseMs = 1000) => {
      const during = Array.from({ length: reads }, () => log.read(null, leaseMs).leaseMs);
      world.now += 1000;
      return { during: [...new Set(during)], next: log.read(null, leaseMs).leaseMs };
    };

    test.each([
      [10, 1000],
      [11, 2000],
      [20, 2000],
      [21, 3000],
      [99, 10_000],
      [1000, 10_000],
    ])("with a bound of 10 reads a second, a second with %d reads makes a lease of %d ms", (reads, leaseMs) => {
      const world = new World();
      const log = world.open({ readsPerSecond: 10 });
      expect(granted(world, log, reads)).toEqual({ during: [1000], next: leaseMs });
    });

    test("longer leases stay until the load itself ends", () => {
      const world = new World();
      const log = world.open({ readsPerSecond: 10 });
      expect(granted(world, log, 40).next).toBe(4000);
      expect(granted(world, log, 9).next).toBe(4000); // a quarter of the reads, for leases four times as long
      expect(granted(world, log, 1).next).toBe(1000);
    });

    test("after a second without any read a lease is as long as asked for", () => {
      const world = new World();
      const log = world.open({ readsPerSecond: 10 });
      granted(world, log, 40);
      world.now += 2000;
      expect(log.read(null, 1000).leaseMs).toBe(1000);
    });

    test.each([
      [20_000, 60_000],
      [60_000, 60_000],
    ])("under load, for a lease of %d ms at most %d ms are granted", (askedMs, leaseMs) => {
      const world = new World();
      expect(granted(world, world.open({ readsPerSecond: 10 }), 99, askedMs).next).toBe(leaseMs);
    });

    test("a receipt includes a longer lease as long as it may still run", () => {
      const world = new World();
      const log = world.open({ readsPerSecond: 10 });
      expect(granted(world, log, 40).next).toBe(4000); // granted at 1 s; alive until 5 s
      expect(settlesInMs(log)).toBe(4250);
      expect(settlesInMs(world.open())).toBe(4250); // after a restart, too
      world.now = 4999;
      expect(settlesInMs(log)).toBe(4250);
      world.now = 1000 + 2 * 4000 + 1; // it is stored with twice its duration, so that not every read is a write
      expect(settlesInMs(log)).toBe(1250);
    });

    test("a shorter lease among longer ones neither hides nor extends them", () => {
      const world = new World();
      const log = world.open({ readsPerSecond: 10 });
      granted(world, log, 40); // 4 s
      granted(world, log, 5); // 5 reads and the one before, in a second of leases of 4 s: 3 s
      expect(settlesInMs(log)).toBe(4250);
      world.now = 8999;
      log.read(null, 1000);
      expect(settlesInMs(log)).toBe(4250);
      world.now = 10_000;
      expect(settlesInMs(log)).toBe(1250);
    });

    test("the storage is written once per longer lease, not for each read", () => {
      const world = new World();
      const writes: string[] = [];
      const sql = sqlOver(world.database);
      const counting: Sql = {
        ...sql,
        exec: (statement, ...bindings) => {
          if (/^\s*(UPDATE|INSERT|DELETE)/.test(statement)) writes.push(statement);
          return sql.exec(statement, ...bindings);
        },
      };
      const log = world.open({ readsPerSecond: 10 }, counting);
      granted(world, log, 40);
      writes.length = 0;
      for (let read = 0; read < 100; read++) log.read(null, 1000);
      expect(writes).toEqual([]);
    });
  });
});
