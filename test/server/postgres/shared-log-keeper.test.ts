import { describe, expect, test } from "vitest";
import { messageOf } from "../../../server/message-of.ts";
import type { Notices } from "../../../server/postgres/database.ts";
import { SharedLogError } from "../../../server/postgres/database-error.ts";
import {
  type SharedLog,
  SharedLogKeeper,
  type SharedLogKeeperOptions,
} from "../../../server/postgres/shared-log-keeper.ts";
import { INVALIDATION } from "../../../worker/purges/invalidations.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { openLog } from "../../purges/log/a-log.ts";
import { purge } from "../../purges/log/a-purge.ts";

type Storage = ReturnType<typeof openLog>;

/** A machine whose log in the database is one in memory. */
function keeperOver(
  storage: Storage,
  scheduler: Scheduler,
  log: Partial<SharedLog> = {},
  options: Partial<SharedLogKeeperOptions> = {},
): Promise<SharedLogKeeper> {
  return SharedLogKeeper.open({
    log: {
      read: async (...asked) => storage.read(...asked),
      changesSince: async (position) => storage.changesSince(position),
      append: async (given) => storage.append(given),
      list: async (...asked) => storage.list(...asked),
      find: async (seq) => storage.find(seq),
      settleUpTo: async (position) => storage.settleUpTo(position),
      nextDueInMs: async () => null,
      runDue: async () => undefined,
      unconfirmed: async () => new Map(),
      confirm: async () => true,
      beat: async () => undefined,
      leave: async () => undefined,
      ...log,
    },
    database: { listen: () => new Promise<never>(() => undefined), close: async () => undefined },
    ledger: { close: () => undefined } as never,
    clock: scheduler,
    grant: { leaseMs: 60_000, longestViewAgeMs: 60_000 },
    hasStrangers: () => false,
    onFailure: (cause) => expect.fail(String(cause)),
    onLateMachines: () => undefined,
    ...options,
  });
}

test("a purge that is waited for is looked up once a second, because a notice may be lost", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  let lookUps = 0;
  const keeper = await keeperOver(storage, scheduler, {
    find: async (seq) => {
      lookUps++;
      return storage.find(seq);
    },
  });
  storage.append(purge(["#a"]));
  await scheduler.advance(5000);
  expect(lookUps).toBe(0); // nobody waits
  let answeredAt: number | null = null;
  void keeper.find(1, 25_000).then((record) => {
    if (record?.settled) answeredAt = scheduler.now();
  });
  await scheduler.advance(1300);
  expect(answeredAt).toBeNull();
  storage.settleUpTo(storage.head);
  await scheduler.advance(1000);
  expect({ answeredAt, lookUps }).toEqual({ answeredAt: 7000, lookUps: 3 });
  await keeper.close();
});

test("notices or beats that fail again and again while reads work are told once, until they work", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  const failures: unknown[] = [];
  let notices: Notices | undefined;
  let mayBeat = true;
  const beat = async () => {
    if (!mayBeat) throw new Error("read-only");
  };
  const listen = (given: Notices) => {
    notices = given;
    return new Promise<never>(() => undefined);
  };
  const keeper = await keeperOver(
    storage,
    scheduler,
    { beat },
    {
      database: { listen, close: async () => undefined },
      grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
      onFailure: (cause) => failures.push(messageOf(cause)),
    },
  );
  const lose = () => notices!.onLost(new SharedLogError("db", "LISTEN is refused", "out-of-reach"));
  mayBeat = false;
  for (let times = 0; times < 30; times++) {
    lose();
    await scheduler.advance(2000);
  }
  expect(failures).toEqual(["The purge log in PostgreSQL at db: LISTEN is refused.", "read-only"]);
  notices!.onListening();
  mayBeat = true;
  await scheduler.advance(10_000);
  lose();
  expect(failures).toHaveLength(3);
  mayBeat = false;
  await scheduler.advance(10_000);
  expect(failures).toHaveLength(4);
  await keeper.close();
});

test("if the machine's disk is full, its counts wait in the workers, and the owner is told once until they are stored", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  const told: unknown[] = [];
  let isFull = true;
  const ledger = {
    take: () => {
      if (isFull) throw new Error("database or disk is full");
    },
    read: () => ({}),
    close: () => undefined,
  };
  const keeper = await keeperOver(
    storage,
    scheduler,
    {},
    {
      ledger: ledger as never,
      onCounts: (cause) => told.push(cause && messageOf(cause)),
    },
  );
  storage.append(purge(["#a"]));
  const read = () => keeper.read(null, 1000, 1000, "a report");
  for (let times = 0; times < 2; times++) expect(await read()).toMatchObject({ to: 1, reportFailed: true });
  expect(told).toEqual(["database or disk is full"]);
  expect(JSON.parse(await keeper.readLedger(null, null))).toEqual({ isWritable: false });
  isFull = false;
  for (let times = 0; times < 2; times++) expect(await read()).not.toHaveProperty("reportFailed");
  expect(told.slice(1)).toEqual([null]);
  expect(JSON.parse(await keeper.readLedger(null, null))).toEqual({ isWritable: true });
  await keeper.close();
});

test("each of several repetitions is carried out when it is due, though no beat comes between them", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  const keeper = await keeperOver(storage, scheduler, {
    nextDueInMs: async () => storage.nextDueInMs(),
    runDue: async () => storage.runDue(),
  });
  const seqAfter = async (ms: number) => {
    await scheduler.advance(ms);
    return storage.head.seq;
  };
  void keeper.append(purge(["#a"], { repeatAfterMs: 3_000 }));
  expect(await seqAfter(1_000)).toBe(1);
  void keeper.append(purge(["#b"], { repeatAfterMs: 3_000 }));
  expect(await seqAfter(1_999)).toBe(2);
  expect(await seqAfter(2)).toBe(3);
  expect(await seqAfter(1_000)).toBe(4);
  await keeper.close();
});

describe("what another machine has purged", () => {
  /** A machine with one worker, which tells what it is pushed. Another machine writes to `storage`. */
  async function withWorker(log: Partial<SharedLog> = {}, options: Partial<SharedLogKeeperOptions> = {}) {
    const scheduler = new Scheduler(1, 0);
    const storage = openLog(scheduler);
    const pushed: number[] = [];
    let notices: Notices | undefined;
    const listen = (given: Notices) => {
      notices = given;
      return new Promise<never>(() => undefined);
    };
    const database = { listen, close: async () => undefined };
    const keeper = await keeperOver(storage, scheduler, log, { database, ...options });
    keeper.readers.adopt("worker");
    keeper.readers.connect("worker", { push: ({ to }) => void pushed.push(to) }, storage.head);
    return { scheduler, storage, pushed, keeper, notices: notices! };
  }

  test("while no notices came reaches the workers as soon as they come again", async () => {
    const { scheduler, storage, pushed, keeper, notices } = await withWorker();
    storage.append(purge(["#a"]));
    await scheduler.advance(0);
    expect(pushed).toEqual([]);
    notices.onListening();
    await scheduler.advance(0);
    expect(pushed).toEqual([1]);
    await keeper.close();
  });

  test("reaches all workers once one of them has read of it, though its notice was lost", async () => {
    const { scheduler, storage, pushed, keeper } = await withWorker();
    storage.append(purge(["#a"]));
    await keeper.read(null, 60_000, 60_000);
    await scheduler.advance(0);
    expect(pushed).toEqual([1]);
    await keeper.close();
  });

  test("is confirmed once the log can be told so, if it was out of reach when the workers had it", async () => {
    let isReached = false;
    const confirmed: number[] = [];
    const confirm = async ({ seq }: Stamp) => {
      if (!isReached) throw new SharedLogError("db", "it does not answer", "out-of-reach");
      confirmed.push(seq);
      return true;
    };
    const onFailure = () => undefined;
    const { scheduler, storage, keeper, notices } = await withWorker({ confirm }, { onFailure });
    storage.append(purge(["#a"]));
    notices.onNotice("");
    await scheduler.advance(0);
    keeper.readers.confirm("worker", storage.head);
    await scheduler.advance(0);
    expect(confirmed).toEqual([]);
    isReached = true;
    await scheduler.advance(60_000); // the time of a lease
    expect(confirmed).toEqual([1]);
    await keeper.close();
  });
});

test.each([
  ["stays a reader while a worker of an earlier server lives, which may hold a lease", true, 0],
  ["leaves the readers if none of its workers lives", false, 1],
])("a machine that stops %s", async (_, hasStrangers, expected) => {
  const scheduler = new Scheduler(1, 0);
  let left = 0;
  const leave = async () => void left++;
  const keeper = await keeperOver(openLog(scheduler), scheduler, { leave }, { hasStrangers: () => hasStrangers });
  await keeper.close();
  expect(left).toBe(expected);
});

test("an unsafe request waits for this machine's workers, and not for other machines", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  const unconfirmed = async () => new Map([["other", "web-2"]]);
  const keeper = await keeperOver(storage, scheduler, { unconfirmed });
  const { readers } = keeper;
  readers.expect("worker");
  readers.connect("worker", { push: () => undefined }, storage.head);
  const admitted = readers.admit("worker");
  readers.confirm("worker", storage.head);
  await admitted;
  let answers = 0;
  void keeper.append({ ...purge(["//h/a"]), ...INVALIDATION }).then(() => answers++);
  await scheduler.advance(0);
  expect([storage.head.seq, answers]).toEqual([1, 0]);
  readers.confirm("worker", storage.head);
  await scheduler.advance(0);
  expect(answers).toBe(1);
  await keeper.close();
});

test.each([
  ["in another history of the log", { logId: "another" }],
  ["while machines may run that the log does not know", { maySettleSooner: false }],
])("a purge that was accepted %s settles when the log says so, whoever has confirmed it", async (_, change) => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  const append: SharedLog["append"] = async (given) => {
    const result = storage.append(given);
    return result.kind === "appended" ? { ...result, settlesInMs: 60_250, maySettleSooner: true, ...change } : result;
  };
  const keeper = await keeperOver(storage, scheduler, { append });
  expect(await keeper.append(purge(["#a"]))).toMatchObject({ settlesInMs: 60_250 });
  await keeper.close();
});

test("a purge that is waited for is answered as soon as another machine tells that it has confirmed it", async () => {
  const scheduler = new Scheduler(1, 0);
  const storage = openLog(scheduler);
  let notices!: Notices;
  const listen = (given: Notices) => {
    notices = given;
    return new Promise<never>(() => undefined);
  };
  let isSettled = false;
  const find: SharedLog["find"] = async (seq) => {
    const found = storage.find(seq);
    return found && { ...found, settled: isSettled };
  };
  const database = { listen, close: async () => undefined };
  const keeper = await keeperOver(storage, scheduler, { find }, { database });
  const { logId, seq } = storage.append(purge(["#a"])) as { logId: string; seq: number };
  let answers = 0;
  void keeper.find(seq, 30_000).then(() => answers++);
  await scheduler.advance(10);
  isSettled = true;
  notices.onNotice(JSON.stringify({ machine: "other", logId, seq }));
  await scheduler.advance(0);
  expect(answers).toBe(1);
  await keeper.close();
});
