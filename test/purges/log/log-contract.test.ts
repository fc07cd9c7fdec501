import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, type TestOptions, test, vi } from "vitest";
import { bundleWorker } from "../../../local/runtime/bundle.ts";
import { type EdgeRuntime, startEdgeRuntime } from "../../../local/runtime/miniflare.ts";
import { LogFile } from "../../../server/log/log-file.ts";
import type { Database } from "../../../server/postgres/database.ts";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import { PgPurgeLog } from "../../../server/postgres/pg-purge-log.ts";
import type { LedgerReading } from "../../../worker/metrics/ledger-reading.ts";
import type {
  AppendRequest,
  AppendResult,
  PurgeLogClient,
  ViewDelta,
} from "../../../worker/purges/log/log-contract.ts";
import type { LogStorage } from "../../../worker/purges/log/log-storage.ts";
import { noPostgres } from "../../sdk/outbox/postgres-server.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { toldCount, toldOf } from "../view/delta.ts";
import { purge } from "./a-purge.ts";
import { report } from "./a-report.ts";
import type { LogCall } from "./log-call.ts";
import { LogOfWorkers } from "./log-of-workers.ts";
import { OneDatabase } from "./one-database.ts";
import { settlementContract } from "./settlement-contract.ts";
import { LogInMemory, LogInObject, LogOfMachines, LogOfServer } from "./settling-logs.ts";

const HOUR_MS = 3_600_000;

/** A storage of the log, at a time that the test sets. */
interface Subject extends LogStorage {
  /** Epoch milliseconds. */
  now: number;
  /** Whatever holds the log ends, and another begins over the same storage. */
  restart(): Promise<void>;
  end(): Promise<void>;
}

/** It differs from the log of machines in who confirms, and takes as long. */
const BEHIND_WORKERS: TestOptions = { tags: ["deep"] };

/** Storages behind a program of their own, which is too long to wait for in `npm test`. */
const BEHIND_A_PROGRAM: TestOptions = { tags: ["gate"] };

/** The object has its storage in SQLite by the same class as a file, where each call costs less. */
const OF_MANY_ROWS: TestOptions = { tags: ["deep"] };

/** One contract for every place in which the log is kept. */
function contract(
  name: string,
  start: () => Promise<Subject>,
  options: TestOptions = {},
  ofManyRows: TestOptions = {},
): void {
  describe(name, options, () => {
    let log: Subject;
    beforeEach(async () => {
      log = await start();
      return () => log.end();
    });

    const appended = async (request: AppendRequest) => {
      const result = await log.append(request);
      if (result.kind === "conflict") throw new Error("no conflict here");
      return result;
    };

    test("numbers rise by one, after a restart, too, and the log keeps its id", async () => {
      const { logId } = await appended(purge(["#a"]));
      await log.restart();
      expect(await appended(purge(["#b"]))).toMatchObject({ seq: 2, logId });
      expect((await log.read(null, 1000)).logId).toBe(logId);
    });

    test("a reader gets the purges after its position, each key with its highest number (R12)", async () => {
      for (const key of ["#a", "#b", "#a"]) await appended(purge([key]));
      const { logId } = await log.read(null, 1000);
      const delta = await log.read({ logId, seq: 1 }, 1000);
      expect(delta).toMatchObject({ from: 1, to: 3, floor: 0, truncatedAt: 0, leaseMs: 1000 });
      expect(delta.heads).toEqual({ hard: 3, soft: 0, invalidate: 0 });
      expect(toldOf(delta, ["#a", "#b"])).toEqual([
        ["#a", 3],
        ["#b", 2],
      ]);
    });

    test("a reader of another log gets everything (R11)", async () => {
      await appended(purge(["#a"]));
      const delta = await log.read({ logId: "another", seq: 9 }, 1000);
      expect({ from: delta.from, told: toldOf(delta, ["#a"]) }).toEqual({ from: 0, told: [["#a", 1]] });
    });

    test("a reader that is ahead proves that history was lost, so another log begins (R13)", async () => {
      const { logId } = await appended(purge(["#a"]));
      const delta = await log.read({ logId, seq: 5 }, 1000);
      expect(delta.logId).not.toBe(logId);
      expect(await appended(purge(["#b"]))).toMatchObject({ logId: delta.logId, seq: 2 });
    });

    test("the reply to a purge brings its caller up to that purge (R20)", async () => {
      const { logId } = await appended(purge(["#a"]));
      const { delta } = await appended(purge(["#b"], { since: { logId, seq: 1 } }));
      expect({ from: delta.from, told: toldOf(delta, ["#a", "#b"]) }).toEqual({ from: 1, told: [["#b", 2]] });
    });

    test("a push holds the purges above a position, and grants no lease (R24)", async () => {
      const [{ logId }] = [await appended(purge(["#a"])), await appended(purge(["#b"]))];
      const delta = await log.changesSince({ logId, seq: 1 });
      expect(delta).toMatchObject({ logId, from: 1, to: 2, leaseMs: 0 });
      expect(toldOf(delta, ["#a", "#b"])).toEqual([["#b", 2]]);
    });

    test("purges are recorded as settled up to a number of this log (R24), which a restart does not forget", async () => {
      const [{ logId }] = [await appended(purge(["#a"])), await appended(purge(["#b"])), await appended(purge(["#c"]))];
      await log.settleUpTo({ logId: "another", seq: 3 });
      expect((await log.list(null, 10)).purges.map(({ settled }) => settled)).toEqual([false, false, false]);
      await log.settleUpTo({ logId, seq: 2 });
      await log.restart();
      expect((await log.list(null, 10)).purges.map(({ settled }) => settled)).toEqual([false, true, true]);
      await log.settleUpTo({ logId, seq: 3 });
      expect(await log.find(3)).toMatchObject({ settled: true, settlesInMs: 0 });
    });

    test("a key has its own number in each mode (R10)", async () => {
      for (const mode of ["hard", "soft", "invalidate", "soft"] as const) await appended(purge(["#a"], { mode }));
      const delta = await log.read(null, 1000);
      expect(delta.heads).toEqual({ hard: 1, soft: 4, invalidate: 3 });
      expect(toldOf(delta, ["#a"], "soft")).toEqual([["#a", 4]]);
    });

    test("a reply tells how long ago purges were made that make pages stale, the latest ones (R10)", async () => {
      const { logId } = await appended(purge(["#a"], { mode: "soft" }));
      log.now += 5_000;
      await appended(purge(["#b"]));
      await appended(purge(["#c"], { mode: "invalidate" }));
      log.now += 1_000;
      const [first, later] = [
        { seq: 1, agoMs: 6_000 },
        { seq: 3, agoMs: 1_000 },
      ];
      expect((await log.read(null, 1000)).dated).toEqual([later, first]);
      expect((await log.read({ logId, seq: 1 }, 1000)).dated).toEqual([later]);
      expect((await log.changesSince({ logId, seq: 2 })).dated).toEqual([later]);
      expect((await log.read({ logId, seq: 3 }, 1000)).dated).toBeUndefined();
      for (let more = 0; more < 20; more++) await appended(purge(["#d"], { mode: "soft" }));
      expect((await log.read(null, 1000)).dated!.map(({ seq }) => seq)).toEqual(
        Array.from({ length: 16 }, (_, index) => 23 - index),
      );
    });

    test("the newest purges come first where one reply has no room for all (R12)", ofManyRows, async () => {
      const keys = (batch: number) => Array.from({ length: 10_000 }, (_, index) => `#${batch}:${index}`);
      for (let batch = 1; batch <= 3; batch++) await appended(purge(keys(batch)));
      const delta = await log.read(null, 1000);
      expect({ truncatedAt: delta.truncatedAt, count: toldCount(delta) }).toEqual({ truncatedAt: 1, count: 20_000 });
      const { logId, to } = delta;
      const rest = await log.read({ logId, seq: to, unread: { from: 0, to: 1 } }, 1000);
      expect({ truncatedAt: rest.truncatedAt, count: toldCount(rest) }).toEqual({ truncatedAt: 0, count: 10_000 });
    });

    test("the same id with the same content is one purge, after a restart, too, and with other content a conflict", async () => {
      log.now = 5;
      expect(await appended(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 5, replayed: false });
      await log.restart();
      log.now = 9;
      expect(await appended(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 5, replayed: true });
      expect(await log.append(purge(["#b"], { id: "x" }))).toEqual({ kind: "conflict" });
      expect((await log.read(null, 1000)).to).toBe(1);
    });

    test("an id counts for 30 days, and then a purge with it is a new one", async () => {
      await appended(purge(["#a"], { id: "x" }));
      log.now = 30 * 24 * HOUR_MS;
      expect(await appended(purge(["#a"], { id: "x" }))).toMatchObject({ seq: 1, at: 0, replayed: true });
      log.now += 1;
      const again = { seq: 2, at: log.now };
      expect(await appended(purge(["#b"], { id: "x" }))).toMatchObject({ ...again, replayed: false });
      expect(await appended(purge(["#b"], { id: "x" }))).toMatchObject({ ...again, replayed: true });
    });

    test("the rows of the trail end after 90 days, when 256 numbers have come", ofManyRows, async () => {
      await appended(purge(["#old"]));
      log.now = 90 * 24 * HOUR_MS + 1;
      await Promise.all(Array.from({ length: 254 }, () => appended(purge(["#new"]))));
      expect(await log.find(1)).toMatchObject({ seq: 1 });
      await appended(purge(["#new"]));
      expect(await log.find(1)).toBeNull();
      expect(await log.find(2)).toMatchObject({ seq: 2 });
    });

    test("a purge that fails halfway leaves nothing behind (promise 5)", async () => {
      await appended(purge(["#a"]));
      // Its id is written last, and storage refuses this one.
      await expect((async () => log.append(purge(["#b"], { id: "x", content: null as never })))()).rejects.toThrow();
      const delta = await log.read(null, 1000);
      expect({ to: delta.to, told: toldOf(delta, ["#a", "#b"]) }).toEqual({ to: 1, told: [["#a", 1]] });
      expect((await log.list(null, 10)).purges.map(({ seq }) => seq)).toEqual([1]);
      expect(await appended(purge(["#b"], { id: "x" }))).toMatchObject({ seq: 2, replayed: false });
    });

    test("a repetition has its own number, happens once, and survives a restart (R20)", async () => {
      expect(await log.nextDueInMs()).toBeNull();
      await appended(purge(["#a"], { id: "x", repeatAfterMs: 5000, reason: "replicas lag" }));
      log.now = 4999;
      expect(await log.nextDueInMs()).toBe(1);
      await log.runDue();
      expect((await log.read(null, 1000)).to).toBe(1);
      await log.restart();
      log.now = 5002;
      expect(await log.nextDueInMs()).toBe(-2);
      await log.runDue();
      await log.runDue();
      expect(await log.nextDueInMs()).toBeNull();
      expect((await log.read(null, 1000)).to).toBe(2);
      expect(await log.find(2)).toMatchObject({ repeatOf: 1, id: null, reason: "replicas lag", at: 5002 });
    });

    test("a receipt settles after the longest lease that may still run, even after a restart (R6)", async () => {
      expect(await appended(purge(["#a"]))).toMatchObject({ settlesInMs: 1250 });
      await log.read(null, 1000, 60_000);
      await log.restart();
      expect(await appended(purge(["#b"]))).toMatchObject({ settlesInMs: 60_250 });
      log.now = 25 * HOUR_MS + 1;
      expect(await appended(purge(["#c"]))).toMatchObject({ settlesInMs: 1250 });
    });

    test("the audit trail says who purged what, when and why, and whether it has settled", async () => {
      log.now = 5;
      await appended(purge(["#a", "/b"], { id: "x", reason: "typo", by: "editor", mode: "soft" }));
      await appended(purge(["#c"]));
      log.now = 5 + 1249;
      expect(await log.find(1)).toMatchObject({
        at: 5,
        by: "editor",
        reason: "typo",
        mode: "soft",
        settled: false,
        settlesInMs: 1,
      });
      log.now = 5 + 1250;
      expect(await log.find(1)).toMatchObject({ purgeKeys: ["#a", "/b"], purgeKeyCount: 2, id: "x", settled: true });
      expect(await log.find(3)).toBeNull();
      expect(await log.list(null, 1)).toMatchObject({ purges: [{ seq: 2 }], next: 2 });
      expect(await log.list(2, 1)).toMatchObject({ purges: [{ seq: 1 }], next: null });
    });
  });
}

class FileSubject implements Subject {
  now = 0;
  readonly #folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-log-"));
  #ids = 0;
  #file = this.#open();

  #open(): LogFile {
    return new LogFile({
      folder: this.#folder,
      clocks: { now: () => this.now, elapsed: () => this.now },
      newId: () => `log-${++this.#ids}`,
      grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
      onReplaced: (why) => expect.fail(why),
    });
  }

  read: Subject["read"] = (since, leaseMs, longestViewAgeMs) =>
    this.#file.use((log) => log.read(since, leaseMs, longestViewAgeMs));
  append: Subject["append"] = (given) => this.#file.use((log) => log.append(given));
  list: Subject["list"] = (...given) => this.#file.use((log) => log.list(...given));
  find: Subject["find"] = (seq) => this.#file.use((log) => log.find(seq));
  changesSince: Subject["changesSince"] = (position) => this.#file.use((log) => log.changesSince(position));
  settleUpTo: Subject["settleUpTo"] = (position) => this.#file.use((log) => log.settleUpTo(position));
  nextDueInMs: Subject["nextDueInMs"] = () => this.#file.use((log) => log.nextDueInMs());
  runDue: Subject["runDue"] = () => this.#file.use((log) => log.runDue());

  async restart(): Promise<void> {
    this.#file.close();
    this.#file = this.#open();
  }

  async end(): Promise<void> {
    this.#file.close();
    rmSync(this.#folder, { recursive: true });
  }
}

contract("a log in a file, on node:sqlite", async () => new FileSubject());
settlementContract("a log in memory", () => new LogInMemory().start());
settlementContract("a log in a file, on node:sqlite", async () => new LogOfServer());

if (noPostgres) process.stdout.write(`${noPostgres}\n`);

const postgres = new OneDatabase();

afterAll(() => postgres.stop());

class PostgresSubject implements Subject {
  now = 0;
  readonly #note = new MachineNote(null, randomUUID);
  readonly #database: Database;
  #log!: PgPurgeLog;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async start(database: Database): Promise<PostgresSubject> {
    const subject = new PostgresSubject(database);
    await subject.restart();
    return subject;
  }

  read: Subject["read"] = (since, leaseMs, longestViewAgeMs) => this.#log.read(since, leaseMs, longestViewAgeMs);
  append: Subject["append"] = (given) => this.#log.append(given);
  list: Subject["list"] = (...given) => this.#log.list(...given);
  find: Subject["find"] = (seq) => this.#log.find(seq);
  changesSince: Subject["changesSince"] = (position) => this.#log.changesSince(position);
  settleUpTo: Subject["settleUpTo"] = (position) => this.#log.settleUpTo(position);
  nextDueInMs: Subject["nextDueInMs"] = () => this.#log.nextDueInMs();
  runDue: Subject["runDue"] = () => this.#log.runDue();

  async restart(): Promise<void> {
    this.#log = await PgPurgeLog.open({
      database: this.#database,
      note: this.#note,
      name: "machine",
      newId: randomUUID,
      elapsed: () => this.now,
      onReplaced: () => undefined,
      now: () => this.now,
    });
  }

  async end(): Promise<void> {}
}

if (!noPostgres) {
  contract("a log in PostgreSQL", async () => PostgresSubject.start(await postgres.withNewLog()), BEHIND_A_PROGRAM);
  settlementContract(
    "a log in PostgreSQL",
    async () => LogOfMachines.start(await postgres.withNewLog()),
    BEHIND_A_PROGRAM,
  );
  settlementContract(
    "a log in PostgreSQL, for the workers of machines",
    async () => LogOfWorkers.start(await postgres.withoutLog()),
    BEHIND_WORKERS,
  );
}

let runtime: Promise<EdgeRuntime> | undefined;
let objects = 0;

/** What the runtime has logged. */
const logged: string[] = [];

async function started(): Promise<EdgeRuntime> {
  const script = await bundleWorker("test/purges/log/purge-log.worker.ts");
  return startEdgeRuntime({ script, variables: {} }, { port: 0, onLine: (line) => logged.push(line) });
}

afterAll(async () => (await runtime)?.stop());

class ObjectSubject implements Subject {
  now = 0;
  readonly #url: URL;
  readonly #log = `log-${++objects}`;

  constructor(url: URL) {
    this.#url = url;
  }

  read = async (...given: Parameters<PurgeLogClient["read"]>) => withWords(await this.#call<ViewDelta>("read", given));
  list: Subject["list"] = (...given) => this.#call("list", given);
  report = (text: string) => this.#call<void>("report", [text]);
  readLedger = (lastMs: number | null, pop: string | null) => this.#call<string>("readLedger", [lastMs, pop]);
  find: Subject["find"] = (seq) => this.#call("find", [seq]);
  changesSince: Subject["changesSince"] = async (...given) => withWords(await this.#call("changesSince", given));
  settleUpTo: Subject["settleUpTo"] = (...given) => this.#call("settleUpTo", given);
  nextDueInMs: Subject["nextDueInMs"] = () => this.#call("nextDueInMs", []);
  runDue: Subject["runDue"] = () => this.#call("runDue", []);

  async append(given: AppendRequest): Promise<AppendResult> {
    const result = await this.#call<AppendResult>("append", [given]);
    return result.kind === "appended" ? { ...result, delta: withWords(result.delta) } : result;
  }

  async restart(): Promise<void> {
    await this.#call("restart", []).catch(() => undefined); // the call ends with the object
  }

  async end(): Promise<void> {}

  async #call<T>(call: LogCall["call"], parameters: readonly unknown[]): Promise<T> {
    const asked: LogCall = { log: this.#log, now: this.now, call, parameters };
    const response = await fetch(this.#url, { method: "POST", body: JSON.stringify(asked) });
    const { result, error } = (await response.json()) as { result: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  }
}

/** The items came as plain numbers. */
function withWords(delta: ViewDelta): ViewDelta {
  return { ...delta, items: Uint32Array.from(delta.items) };
}

contract(
  "a log in a Durable Object",
  async () => {
    runtime ??= started();
    return new ObjectSubject((await runtime).url);
  },
  BEHIND_A_PROGRAM,
  OF_MANY_ROWS,
);
settlementContract(
  "a log in a Durable Object",
  async () => {
    runtime ??= started();
    return LogInObject.start((await runtime).url, `settling-${++objects}`);
  },
  BEHIND_A_PROGRAM,
);

test(
  "a read of a Durable Object says that its report was not stored, and has the purges",
  BEHIND_A_PROGRAM,
  async () => {
    runtime ??= started();
    const log = new ObjectSubject((await runtime).url);
    await log.append(purge(["#a"]));
    expect(await log.read(null, 1000, 1000, "{")).toMatchObject({ to: 1, reportFailed: true });
    expect(await log.read(null, 1000, 1000, report())).not.toHaveProperty("reportFailed");
  },
);

test("a Durable Object shows a report at once, and does not count it twice", BEHIND_A_PROGRAM, async () => {
  runtime ??= started();
  const log = new ObjectSubject((await runtime).url);
  const requests = async () => (JSON.parse(await log.readLedger(null, null)) as LedgerReading).counts.requests;
  await log.read(null, 1000, 1000, report());
  await log.report(report({ isolate: "two" }));
  await log.report(report({ isolate: "two" }));
  expect(await requests()).toBe(20);
  await log.report(report());
  expect(await requests()).toBe(20);
});

test(
  "a Durable Object refuses a report that it cannot store, and logs it once until one is stored",
  BEHIND_A_PROGRAM,
  async () => {
    runtime ??= started();
    const log = new ObjectSubject((await runtime).url);
    const warnings = () => logged.filter((line) => line.includes("The ledger could not store a report")).length;
    const before = warnings();
    for (let times = 0; times < 2; times++) await expect(log.report("{")).rejects.toThrow("SyntaxError");
    await log.report(report());
    await log.read(null, 1000, 1000, "{");
    await vi.waitUntil(() => warnings() - before >= 2, { timeout: 10_000 });
    expect(warnings() - before).toBe(2);
  },
);
