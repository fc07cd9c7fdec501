import { beforeEach, describe, expect, test, vi } from "vitest";
import { ConnectedLog, type Push } from "../../../worker/purges/log/connected-log.ts";
import {
  LONGEST_USE_MS,
  REMEMBERED_BY_NAME_MS,
  REMEMBERED_MS,
  type ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import type { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { emptyStorage, openLog, settlesAfter } from "./a-log.ts";
import { purge } from "./a-purge.ts";

const START = 100_000;
const BY_THE_CLOCK = { settlesInMs: 1250, maySettleSooner: false };

describe("a log with connections (R26)", () => {
  let scheduler: Scheduler;
  let storage: Sql;
  let log: SqlPurgeLog;
  let connected: ConnectedLog;

  beforeEach(async () => {
    scheduler = new Scheduler(1, START);
    storage = emptyStorage();
    log = openLog(scheduler, { storage });
    connected = new ConnectedLog(log, scheduler);
    log.read(null, 0, 0, "the first");
    await scheduler.advance(2 * REMEMBERED_MS);
  });

  const append = () => {
    const result = log.append(purge(["#a"], { reader: "purger" }));
    connected.push();
    return result;
  };

  /** A reader that has renewed, and answers pushes so. */
  function reader(name: string, push: Push) {
    const connection = connected.connect(name, push)!;
    connected.renew(connection, null, 1000, 1000);
    return connection;
  }

  const settlesIn = (seq: number) => settlesAfter(connected, seq, scheduler);

  test("sends a purge to every reader at once, from its own position", async () => {
    const pushed: ViewDelta[] = [];
    reader("one", async (delta) => pushed.push(delta) > 0);
    append();
    await scheduler.advance(0);
    append();
    expect(pushed.map(({ from, to, leaseMs }) => ({ from, to, leaseMs }))).toEqual([
      { from: 0, to: 1, leaseMs: 0 },
      { from: 1, to: 2, leaseMs: 0 },
    ]);
  });

  test("a purge settles when all readers have confirmed it, after 300 ms at the least", async () => {
    reader("one", async () => true);
    reader("two", async () => {
      await scheduler.wait(500).over;
      return true;
    });
    expect(append()).toMatchObject({ settlesInMs: 1250, maySettleSooner: true });
    expect(await settlesIn(1)).toBe(500);
    await scheduler.advance(REMEMBERED_BY_NAME_MS);
    expect(append()).toMatchObject({ settlesInMs: 300, maySettleSooner: false }); // nobody serves anything any more
  });

  test.each<[string, Push]>([
    ["cannot be reached", () => Promise.reject(new Error("the connection is lost"))],
    ["cannot take it in", async () => false],
    ["does not answer", () => new Promise(() => undefined)],
  ])("a purge waits for a lease and the allowance because of a reader that %s", async (_, push) => {
    reader("one", async () => true);
    reader("two", push);
    await scheduler.advance(100);
    append();
    expect(await settlesIn(1)).toBe(1250);
    append();
    expect(await settlesIn(2)).toBe(1250);
  });

  test("a restarted log waits for earlier readers as long as they may serve what they fetched", async () => {
    const restarted = openLog(scheduler, { storage });
    const named = purge(["#a"], { reader: "purger" });
    await scheduler.advance(REMEMBERED_BY_NAME_MS - 1000);
    expect(restarted.append(named)).toMatchObject(BY_THE_CLOCK);
    await scheduler.advance(1250); // with the allowance
    expect(restarted.append(named)).toMatchObject({ settlesInMs: 300 });
  });

  test("a reader that missed a push gets the next one if it has renewed over its connection since", async () => {
    const pushed: number[] = [];
    const connection = reader("one", async ({ to }) => {
      pushed.push(to);
      if (to === 1) throw new Error("lost");
      return true;
    });
    append();
    await scheduler.advance(0);
    expect(connected.size).toBe(0);
    append();
    await scheduler.advance(0);
    expect(pushed).toEqual([1]);
    connected.renew(connection, { logId: "log-1", seq: 0 }, 1000, 1000);
    append();
    await scheduler.advance(0);
    expect(pushed).toEqual([1, 3]);
  });

  test("a reader's next renewal also confirms", async () => {
    const connection = reader("one", () => Promise.reject(new Error("lost")));
    append();
    await scheduler.advance(400);
    connected.renew(connection, { logId: "log-1", seq: 1 }, 1000, 1000);
    expect(log.find(1)).toMatchObject({ settled: true });
  });

  describe("if a purge has so many keys that pushing it to all readers would take much memory", () => {
    const READERS = 300;
    const KEYS = Array.from({ length: 10_000 }, (_, index) => `#${index}`);
    const ANSWERS_IN_MS = 50;
    let sent: string[];
    let bytes: { now: number; most: number };

    beforeEach(() => {
      sent = [];
      bytes = { now: 0, most: 0 };
    });

    function readers(answersInMs: (index: number) => number) {
      return Array.from({ length: READERS }, (_, index) =>
        reader(`${index}`, async ({ items }) => {
          sent.push(`${index}`);
          bytes.now += items.byteLength;
          bytes.most = Math.max(bytes.most, bytes.now);
          await scheduler.wait(answersInMs(index)).over;
          bytes.now -= items.byteLength;
          return true;
        }),
      );
    }

    function appendLarge() {
      log.append(purge(KEYS, { reader: "purger" }));
      connected.push();
    }

    test("it is sent to as many readers at a time as fit in 16 MiB, and to each once", async () => {
      readers(() => ANSWERS_IN_MS);
      appendLarge();
      expect(sent.length).toBe(140);
      await scheduler.advance(10 * ANSWERS_IN_MS);
      expect(sent.length).toBe(READERS);
      expect(new Set(sent).size).toBe(READERS);
      expect(bytes.most).toBeLessThan(17 * 1024 * 1024);
      expect(log.find(1)).toMatchObject({ settled: true });
    });

    test("silent readers delay the others by at most a second, and get no more pushes", async () => {
      readers((index) => (index < 200 ? 60_000 : ANSWERS_IN_MS));
      appendLarge();
      await scheduler.advance(999);
      expect(sent.length).toBe(140);
      await scheduler.advance(1100);
      expect(sent.length).toBe(READERS);
      expect(connected.size).toBe(100);
    });

    test("a small purge waits for nobody", () => {
      readers(() => 60_000);
      appendLarge();
      sent = [];
      const [renewed] = [reader("renewed", async () => sent.push("renewed") > 0)];
      connected.renew(renewed, { logId: "log-1", seq: 1 }, 1000, 1000);
      append();
      expect(sent).toEqual(["renewed"]);
    });
  });

  test("a reader that has given up its lease is not waited for", async () => {
    const connection = reader("one", () => new Promise(() => undefined));
    append();
    connected.release(connection);
    expect(await settlesIn(1)).toBe(300);
  });

  test("for a day after a reader that never confirms, receipts settle after a lease, as if nobody did (R6)", async () => {
    log.read(null, 1000);
    reader("one", async () => true);
    expect(append()).toMatchObject(BY_THE_CLOCK);
    await scheduler.advance(REMEMBERED_MS);
    reader("one", async () => true);
    expect(append()).toMatchObject(BY_THE_CLOCK);
    await scheduler.advance(REMEMBERED_MS);
    reader("one", async () => true);
    expect(append()).toMatchObject({ settlesInMs: 1250, maySettleSooner: true });
  });

  test("a purge by an isolate that never confirms settles after a lease, and so do those of the next day", () => {
    expect(log.append(purge(["#a"]))).toMatchObject(BY_THE_CLOCK);
    expect(append()).toMatchObject(BY_THE_CLOCK);
  });

  test("for a day after a log was created, receipts settle after a lease, because somebody may have read the previous log", async () => {
    const made = openLog(scheduler, { newId: () => "log-2" });
    const named = purge(["#a"], { reader: "purger" });
    expect(made.append(named)).toMatchObject(BY_THE_CLOCK);
    await scheduler.advance(REMEMBERED_MS);
    expect(made.append(named)).toMatchObject(BY_THE_CLOCK);
    await scheduler.advance(REMEMBERED_MS);
    expect(made.append(named)).toMatchObject({ settlesInMs: 300, maySettleSooner: false });
  });

  test("the same holds for a day after a log got another id because its storage was set back", () => {
    expect(append()).toMatchObject({ settlesInMs: 300 });
    log.read({ logId: "log-1", seq: 99 }, 1000, 1000, "one");
    expect(append()).toMatchObject({ settlesInMs: LONGEST_USE_MS + 250, maySettleSooner: false });
  });

  test("a reader beyond the limit of connections gets none", async () => {
    const small = new ConnectedLog(log, scheduler, 1);
    const first = small.connect("one", async () => true)!;
    expect(small.connect("two", async () => true)).toBeNull();
    small.disconnect(first);
    expect(small.size).toBe(0);
    expect(small.connect("two", async () => true)).not.toBeNull();
  });

  test("a reader whose first read fails leaves its place to others", () => {
    const small = new ConnectedLog(log, scheduler, 1);
    const one = { name: "one", since: null, leaseMs: 1000, longestViewAgeMs: 1000 };
    vi.spyOn(log, "read").mockImplementationOnce(() => {
      throw new Error("the disk is full");
    });
    expect(() => small.open(one, async () => true)).toThrow("the disk is full");
    expect(small.open({ ...one, name: "two" }, async () => true)).toMatchObject({ first: { leaseMs: 1000 } });
  });

  test("a reader that does not answer is sent some purges, and the rest in one push when it does", async () => {
    const pushed: number[] = [];
    const silence = Promise.withResolvers<void>();
    reader("one", async ({ to }) => {
      pushed.push(to);
      await silence.promise;
      return true;
    });
    for (let index = 0; index < 1000; index++) append();
    expect(pushed.length).toBeLessThan(25);
    silence.resolve();
    await scheduler.advance(0);
    expect(pushed.length).toBeLessThan(50);
    expect(pushed.at(-1)).toBe(1000);
  });

  test("an answer is held for at most the requested time", async () => {
    reader("one", () => new Promise(() => undefined));
    append();
    let record: unknown;
    void connected.find(1, 700).then((found) => {
      record = found;
    });
    await scheduler.advance(699);
    expect(record).toBeUndefined();
    await scheduler.advance(1);
    expect(record).toMatchObject({ seq: 1, settled: false });
    expect(await connected.find(2, 700)).toBeNull();
  });
});
