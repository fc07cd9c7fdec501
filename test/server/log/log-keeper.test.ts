import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LOG_FILE, LogFile } from "../../../server/log/log-file.ts";
import { LogKeeper } from "../../../server/log/log-keeper.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { purge } from "../../purges/log/a-purge.ts";
import { report } from "../../purges/log/a-report.ts";

const HOUR_MS = 3_600_000;

let folder: string;
let scheduler: Scheduler;
let steppedMs: number;
let database: DatabaseSync;
let failures: unknown[];
let counts: unknown[];
let slowCommits: number;
let keeper: LogKeeper;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-log-"));
  scheduler = new Scheduler(1, 1_000_000_000);
  steppedMs = 0;
  failures = [];
  counts = [];
  slowCommits = 0;
  keeper = open();
});

afterEach(() => {
  keeper.close();
  rmSync(folder, { recursive: true });
});

/** `isOneOfSeveral`: then it may start although its file cannot be used. */
function open(onReplaced: (why: string) => void = (why) => expect.fail(why), isOneOfSeveral = false): LogKeeper {
  const file = new LogFile({
    folder,
    clocks: { now: () => scheduler.now(), elapsed: () => scheduler.now() + steppedMs },
    newId: () => "log",
    grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
    onReplaced,
    isOneOfSeveral,
    open: (path) => {
      database = new DatabaseSync(path);
      return database;
    },
  });
  const onFailure = (cause: unknown) => void failures.push(cause);
  const onUnwritable = (cause: unknown) => isOneOfSeveral || expect.fail(String(cause));
  const onWritable = () => isOneOfSeveral || expect.fail("it was writable all the time");
  const onCounts = (cause: unknown) => void counts.push(cause);
  const told = { onFailure, onUnwritable, onWritable, onCounts, onSlowCommit: () => void slowCommits++ };
  return new LogKeeper({ file, clock: scheduler, hasStrangers: () => false, ...told });
}

const head = async () => (await keeper.read(null, 1000)).to;

describe("the supervisor's log carries out repetitions", () => {
  test("when they are due, and pushes them", async () => {
    const pushed: ViewDelta[] = [];
    keeper.readers.expect("one");
    keeper.readers.connect("one", { push: (delta) => pushed.push(delta) }, { logId: "log", seq: 0 });
    await keeper.append(purge(["#a"], { repeatAfterMs: 5000 }));
    await scheduler.advance(4999);
    expect(await head()).toBe(1);
    await scheduler.advance(1);
    expect(await head()).toBe(2);
    expect(await keeper.find(2)).toMatchObject({ repeatOf: 1, settled: true });
    expect(pushed.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  test("of several purges, each at its own time", async () => {
    await keeper.append(purge(["#a"], { repeatAfterMs: 5000 }));
    await keeper.append(purge(["#b"], { repeatAfterMs: 1000 }));
    await scheduler.advance(1000);
    expect(await keeper.find(3)).toMatchObject({ repeatOf: 2 });
    await scheduler.advance(4000);
    expect(await keeper.find(4)).toMatchObject({ repeatOf: 1 });
  });

  test("a day later, though no timer waits that long", async () => {
    await keeper.append(purge(["#a"], { repeatAfterMs: 24 * HOUR_MS }));
    await scheduler.advance(24 * HOUR_MS - 1);
    expect(await head()).toBe(1);
    await scheduler.advance(1);
    expect(await head()).toBe(2);
  });

  test("that fell due while no supervisor was running, at its start", async () => {
    await keeper.append(purge(["#a"], { repeatAfterMs: 5000 }));
    keeper.close();
    await scheduler.advance(60_000);
    keeper = open();
    await scheduler.advance(0);
    expect(await head()).toBe(2);
  });

  test("a few at a time, so that what workers ask for comes in between", async () => {
    for (let number = 0; number < 25; number++) await keeper.append(purge([`#${number}`], { repeatAfterMs: 5000 }));
    keeper.close();
    await scheduler.advance(60_000);
    keeper = open();
    const pushed: number[] = [];
    keeper.readers.expect("one");
    keeper.readers.connect("one", { push: ({ to }) => pushed.push(to) }, { logId: "log", seq: 25 });
    await scheduler.advance(0);
    expect(pushed).toEqual([35, 45, 50]);
    const { purges } = await keeper.list(null, 25);
    expect(purges.map(({ repeatOf }) => repeatOf)).toEqual(Array.from({ length: 25 }, (_, at) => 25 - at));
  });

  test("again after a failure of the disk", async () => {
    await keeper.append(purge(["#a"], { repeatAfterMs: 5000 }));
    database.exec("PRAGMA query_only=ON");
    await scheduler.advance(5000);
    expect(failures).toEqual([expect.objectContaining({ fault: "read-only" })]);
    database.exec("PRAGMA query_only=OFF");
    await scheduler.advance(5000);
    expect(await head()).toBe(2);
  });

  test.each([
    ["back", HOUR_MS],
    ["forth", -HOUR_MS],
  ])("when they are due, though the clock steps %s by an hour meanwhile", async (_, byMs) => {
    await keeper.append(purge(["#a"], { repeatAfterMs: 5000 }));
    await scheduler.advance(2000);
    scheduler.stepBack(byMs); // timers go on as before
    steppedMs = byMs;
    await scheduler.advance(2999);
    expect(await head()).toBe(1);
    await scheduler.advance(1);
    expect(await head()).toBe(2);
  });
});

test("a purge that is sent again while nobody had confirmed the first has one number, and tells the truth of itself", async () => {
  keeper.readers.expect("one");
  keeper.readers.connect("one", { push: () => undefined }, { logId: "log", seq: 0 });
  const admission = keeper.readers.admit("one");
  keeper.readers.confirm("one", { logId: "log", seq: 0 });
  await admission;
  const first = keeper.append(purge(["#a"], { id: "x" }));
  const again = keeper.append(purge(["#a"], { id: "x" }));
  keeper.readers.confirm("one", { logId: "log", seq: 1 });
  expect(await first).toMatchObject({ seq: 1, replayed: false, settlesInMs: 0 });
  expect(await again).toMatchObject({ seq: 1, replayed: true, settlesInMs: 0 });
});

test("a read says that its report was not stored, and the owner is told of the first one, and once one is again", async () => {
  const read = async (number: number) =>
    (await keeper.read(null, 1000, 1000, report({ number }))).reportFailed ?? false;
  const stored = async () => {
    const { counts, isWritable } = JSON.parse(await keeper.readLedger(null, null));
    return [isWritable, counts.requests ?? 0];
  };
  database.exec("PRAGMA query_only=ON");
  expect([await read(1), await read(1), ...(await stored())]).toEqual([true, true, false, 0]);
  expect(counts).toEqual([expect.objectContaining({ fault: "read-only" })]);
  database.exec("PRAGMA query_only=OFF");
  expect([await read(1), await read(2), ...(await stored())]).toEqual([false, false, true, 20]);
  expect(counts.slice(1)).toEqual([null]);
  expect(failures).toEqual([]);
});

test("while the log's file is not at its path, no report is stored, so that the owner knows before there is a purge", async () => {
  const path = join(folder, "purge-log.sqlite");
  const look = async (number: number) => {
    const { reportFailed = false } = await keeper.read(null, 1000, 1000, report({ number }));
    const { counts, isWritable } = JSON.parse(await keeper.readLedger(null, null));
    return { reportFailed, isWritable, requests: counts.requests ?? 0 };
  };
  renameSync(path, join(folder, "elsewhere"));
  expect(await look(1)).toEqual({ reportFailed: true, isWritable: false, requests: 0 });
  expect(counts).toEqual([expect.objectContaining({ fault: "removed" })]);
  renameSync(join(folder, "elsewhere"), path);
  expect(await look(1)).toEqual({ reportFailed: false, isWritable: true, requests: 10 });
  expect(counts.slice(1)).toEqual([null]);
});

test("a purge is refused while the log's file is not at its path, where the next server would not find it", async () => {
  const path = join(folder, LOG_FILE);
  renameSync(path, join(folder, "elsewhere"));
  await expect(keeper.append(purge(["#a"]))).rejects.toMatchObject({ fault: "removed" });
  renameSync(join(folder, "elsewhere"), path);
  expect(await keeper.append(purge(["#a"]))).toMatchObject({ seq: 1 });
});

describe("a file from before the last purge counts as another log (R13),", () => {
  /** The server is stopped, and its file is kept, which is there again after what comes next. */
  async function expectReplacedAfter(next: () => Promise<unknown>): Promise<void> {
    const [path, kept] = [join(folder, LOG_FILE), join(folder, "kept")];
    keeper.close();
    copyFileSync(path, kept);
    keeper = open();
    await next();
    keeper.close();
    copyFileSync(kept, path);
    const replaced: string[] = [];
    keeper = open((why) => replaced.push(why));
    expect(replaced).toHaveLength(1);
  }

  test("if somebody has sent that", async () => {
    await keeper.append(purge(["#a"]));
    await expectReplacedAfter(() => keeper.append(purge(["#b"])));
  });

  test("if that was a repetition", async () => {
    await keeper.append(purge(["#a"], { repeatAfterMs: 5000 }));
    await expectReplacedAfter(() => scheduler.advance(5000));
  });
});

test("the owner is told of each purge that takes longer to be written than a lease lasts", async () => {
  let writingMs = 1000;
  database.function("write", () => {
    scheduler.stepBack(-writingMs); // the one clock that moves while nothing else runs
    return 0;
  });
  database.exec("CREATE TEMP TRIGGER slow AFTER INSERT ON audit BEGIN SELECT write(); END");
  const append = () => keeper.append(purge(["#a"], { leaseMs: 1000 }));
  await append();
  expect(slowCommits).toBe(0);
  writingMs = 1001;
  await append();
  await append();
  expect(slowCommits).toBe(2);
});

describe("an answer about a purge is held until it has settled", () => {
  const admitted = async (name: string) => {
    const position = await keeper.read(null, 1000).then(({ logId, to }) => ({ logId, seq: to }));
    keeper.readers.expect(name);
    keeper.readers.connect(name, { push: () => undefined }, position);
    const admission = keeper.readers.admit(name);
    keeper.readers.confirm(name, position);
    await admission;
  };

  /** A purge that the worker does not confirm in time, and how long its answer is held then, in milliseconds. */
  async function held(waitMs: number): Promise<{ afterMs: number; settled: boolean | undefined }> {
    const appended = keeper.append(purge(["#a"]));
    await scheduler.advance(250);
    const { seq, ...receipt } = (await appended) as { seq: number };
    expect(receipt).toMatchObject({ settlesInMs: 1250, maySettleSooner: true });
    const from = scheduler.now();
    const outcome = { afterMs: Number.NaN, settled: undefined as boolean | undefined };
    void keeper.find(seq, waitMs).then((record) => {
      outcome.afterMs = scheduler.now() - from;
      outcome.settled = record?.settled;
    });
    return outcome;
  }

  test("by the confirmation of a worker that was late", async () => {
    await admitted("one");
    const answer = await held(5000);
    await scheduler.advance(400);
    keeper.readers.confirm("one", { logId: "log", seq: 1 });
    await scheduler.advance(5000);
    expect(answer).toEqual({ afterMs: 400, settled: true });
  });

  test("and fails once the log is closed, which is not opened again", async () => {
    await admitted("one");
    const appended = keeper.append(purge(["#a"]));
    await scheduler.advance(250);
    await appended;
    const found = keeper.find(1, 5000);
    keeper.close();
    await expect(found).rejects.toThrow("the purge log was closed");
    expect(database.isOpen).toBe(false);
    keeper = open();
  });

  test("by the end of that worker's process", async () => {
    await admitted("one");
    const answer = await held(5000);
    await scheduler.advance(300);
    keeper.readers.dismiss("one");
    await scheduler.advance(5000);
    expect(answer).toEqual({ afterMs: 300, settled: true });
  });

  test("by the clock, if the worker never confirms", async () => {
    await admitted("one");
    const answer = await held(5000);
    await scheduler.advance(5000);
    expect(answer).toEqual({ afterMs: 1000, settled: true });
  });

  test("or until the time that was asked for is over", async () => {
    await admitted("one");
    const answer = await held(700);
    await scheduler.advance(5000);
    expect(answer).toEqual({ afterMs: 700, settled: false });
  });

  test("if no more than a thousand others are held", async () => {
    await admitted("one");
    await held(5000);
    const others = Array.from({ length: 999 }, () => keeper.find(1, 5000));
    expect(await keeper.find(1, 5000)).toMatchObject({ settled: false });
    await scheduler.advance(1000);
    await Promise.all(others);
    expect(await keeper.find(1, 5000)).toMatchObject({ settled: true });
  });
});

test("a purge that all workers have confirmed has settled, and none can settle sooner", async () => {
  expect(await keeper.append(purge(["#a"]))).toMatchObject({ settlesInMs: 0, maySettleSooner: false });
});

describe("a worker is pushed another log at once", () => {
  /** A log that is one of several, and what its worker is pushed. */
  function another() {
    let logs = 0;
    const file = new LogFile({
      folder,
      clocks: { now: () => scheduler.now(), elapsed: () => scheduler.now() },
      newId: () => `log ${++logs}`,
      grant: { leaseMs: 60_000, longestViewAgeMs: 60_000 },
      isOneOfSeveral: true,
      onReplaced: () => undefined,
      open: (path) => new DatabaseSync(path),
    });
    const ignore = () => undefined;
    const told = { onFailure: ignore, onUnwritable: ignore, onWritable: ignore };
    keeper = new LogKeeper({ file, clock: scheduler, hasStrangers: () => false, ...told });
    const pushed: string[] = [];
    keeper.readers.adopt("one");
    const head = file.use((log) => log.head);
    keeper.readers.connect("one", { push: ({ logId }) => pushed.push(logId) }, head);
    return pushed;
  }

  test("that begins in place of its own", () => {
    keeper.close();
    const pushed = another();
    keeper.replace("another site had its host meanwhile");
    expect(pushed).toEqual(["log 1"]);
  });

  test("when its file can be used again, in whose place an empty one stood", async () => {
    const pushed = another(); // while the file is in use
    await scheduler.advance(5_000);
    expect(pushed).toEqual([]);
    database.close();
    await scheduler.advance(5_000);
    expect(pushed).toEqual(["log"]);
    const receipt = keeper.append(purge(["#a"]));
    await scheduler.advance(250); // nobody confirms it
    expect(await receipt).toMatchObject({ kind: "appended", logId: "log" });
  });
});

test("repetitions that fell due while the file could not be used are carried out when it can be again", async () => {
  await keeper.append(purge(["#a"], { repeatAfterMs: 1000 }));
  keeper.close();
  const path = join(folder, LOG_FILE);
  renameSync(path, join(folder, "elsewhere"));
  mkdirSync(path);
  keeper = open(undefined, true);
  await scheduler.advance(4_999);
  rmdirSync(path);
  renameSync(join(folder, "elsewhere"), path);
  await scheduler.advance(1);
  await scheduler.advance(0);
  expect(await head()).toBe(2);
});
