import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { LogFile } from "../../../server/log/log-file.ts";
import { LogKeeper } from "../../../server/log/log-keeper.ts";
import type { Database } from "../../../server/postgres/database.ts";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import { PgPurgeLog } from "../../../server/postgres/pg-purge-log.ts";
import type { Wait } from "../../../worker/ports/clock.ts";
import { ConnectedLog, type Connection } from "../../../worker/purges/log/connected-log.ts";
import { HeldAnswers } from "../../../worker/purges/log/held-answers.ts";
import { REMEMBERED_MS } from "../../../worker/purges/log/log-contract.ts";
import type { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { Scheduler } from "../../engine/scheduler.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { until } from "../../suite/until.ts";
import { emptyStorage, openLog } from "./a-log.ts";
import { purge } from "./a-purge.ts";
import type { LogCall } from "./log-call.ts";
import { type Appended, LEASE_MS, type SettlingLog, SKEW_MS } from "./settlement-contract.ts";

/** On Workers any isolate may serve a response of unknown purge state for so long, of which the log cannot know (R25). */
const UNKNOWN_AND_SKEW_MS = 300;

/** Longer than a new log counts with readers of the log before it. */
const NO_LONGER_NEW_MS = 2 * REMEMBERED_MS;

function purged(result: { kind: string }): Appended {
  if (result.kind !== "appended") throw new Error("no conflict here");
  return result as Appended;
}

/** The object's log with its connections, in memory. Its readers are isolates with a name. */
export class LogInMemory implements SettlingLog {
  readonly boundMs: number = LEASE_MS + SKEW_MS;
  readonly earliestMs = UNKNOWN_AND_SKEW_MS;
  protected readonly scheduler = new Scheduler(1, 0);
  readonly #storage = emptyStorage();
  readonly #connections = new Map<string, Connection>();
  #steppedMs = 0;
  protected log!: SqlPurgeLog;
  protected connected!: ConnectedLog;

  async start(): Promise<this> {
    await this.restart();
    this.log.read(null, LEASE_MS, LEASE_MS, "the first");
    await this.advance(NO_LONGER_NEW_MS);
    return this;
  }

  advance(ms: number): Promise<void> {
    return this.scheduler.advance(ms);
  }

  async stepClock(ms: number): Promise<void> {
    this.#steppedMs += ms;
  }

  async join(reader: string): Promise<void> {
    const connection = this.connected.connect(reader, async () => false)!;
    this.connected.renew(connection, null, LEASE_MS, LEASE_MS);
    this.#connections.set(reader, connection);
  }

  async confirm(reader: string, { logId, seq }: Stamp): Promise<void> {
    const connection = this.#connections.get(reader);
    if (connection) this.connected.renew(connection, { logId, seq }, LEASE_MS, LEASE_MS);
  }

  async leave(reader: string): Promise<void> {
    this.connected.release(this.#connections.get(reader)!);
  }

  async noteStranger(): Promise<void> {
    this.log.read(null, LEASE_MS);
  }

  async purge(id: string | null = null): Promise<Appended> {
    const result = this.log.append(purge(["#a"], { id, reader: "purger" }));
    this.connected.push();
    return purged(result);
  }

  async isSettled(seq: number): Promise<boolean> {
    return this.log.find(seq)!.settled;
  }

  async hold(seq: number, waitMs: number) {
    return { record: this.connected.find(seq, waitMs) };
  }

  async restart(): Promise<void> {
    const clock = { now: () => this.scheduler.now() + this.#steppedMs };
    this.log = openLog(clock, { storage: this.#storage });
    this.connected = new ConnectedLog(this.log, { ...clock, wait: (ms) => this.scheduler.wait(ms) });
  }

  async end(): Promise<void> {}
}

/** The same as a Durable Object. The time of its clock is what each call says, and its timers take real time. */
export class LogInObject implements SettlingLog {
  readonly boundMs = LEASE_MS + SKEW_MS;
  readonly earliestMs = UNKNOWN_AND_SKEW_MS;
  readonly #url: URL;
  readonly #name: string;
  #now = 0;

  private constructor(url: URL, name: string) {
    this.#url = url;
    this.#name = name;
  }

  static async start(url: URL, name: string): Promise<LogInObject> {
    const log = new LogInObject(url, name);
    await log.#call("read", [null, LEASE_MS, LEASE_MS, undefined, "the first"]);
    await log.advance(NO_LONGER_NEW_MS);
    return log;
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
  }

  stepClock(ms: number): Promise<void> {
    return this.advance(ms);
  }

  join = (reader: string) => this.#call<void>("join", [reader, LEASE_MS, SKEW_MS]);
  leave = (reader: string) => this.#call<void>("leave", [reader]);

  confirm(reader: string, { logId, seq }: Stamp): Promise<void> {
    return this.#call("confirm", [reader, { logId, seq }, LEASE_MS]);
  }

  noteStranger(): Promise<void> {
    return this.#call("read", [null, LEASE_MS]);
  }

  async purge(id: string | null = null): Promise<Appended> {
    return purged(await this.#call("append", [purge(["#a"], { id, reader: "purger" })]));
  }

  async isSettled(seq: number): Promise<boolean> {
    return (await this.#call<{ settled: boolean }>("find", [seq])).settled;
  }

  async hold(seq: number, waitMs: number) {
    return { record: this.#call<never>("find", [seq, waitMs]) };
  }

  async restart(): Promise<void> {
    await this.#call("restart", []).catch(() => undefined); // the call ends with the object
  }

  async end(): Promise<void> {}

  async #call<T>(call: LogCall["call"], parameters: readonly unknown[]): Promise<T> {
    const asked: LogCall = { log: this.#name, now: this.#now, call, parameters };
    const response = await fetch(this.#url, { method: "POST", body: JSON.stringify(asked) });
    const { result, error } = (await response.json()) as { result: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return result;
  }
}

/** The log of one server in its file. Its readers are the server's worker processes. */
export class LogOfServer implements SettlingLog {
  readonly boundMs = LEASE_MS + SKEW_MS;
  readonly earliestMs = 0;
  readonly #folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-log-"));
  readonly #scheduler = new Scheduler(1, 1_000_000);
  readonly #workers = new Set<string>();
  #steppedMs = 0;
  #hasStrangers = false;
  #keeper = this.#open();

  #open(): LogKeeper {
    const now = () => this.#scheduler.now() + this.#steppedMs;
    const file = new LogFile({
      folder: this.#folder,
      clocks: { now, elapsed: () => this.#scheduler.now() },
      newId: () => "log-1",
      grant: { leaseMs: LEASE_MS, longestViewAgeMs: LEASE_MS },
      onReplaced: (why) => expect.fail(why),
    });
    return new LogKeeper({
      file,
      clock: { now, wait: (ms) => this.#scheduler.wait(ms) },
      hasStrangers: () => this.#hasStrangers,
      confirmWithinMs: 0,
      onFailure: (cause) => expect.fail(String(cause)),
      onUnwritable: (cause) => expect.fail(String(cause)),
      onWritable: () => undefined,
    });
  }

  advance(ms: number): Promise<void> {
    return this.#scheduler.advance(ms);
  }

  async stepClock(ms: number): Promise<void> {
    this.#steppedMs += ms;
  }

  async join(worker: string): Promise<void> {
    const { readers } = this.#keeper;
    this.#workers.add(worker);
    readers.expect(worker);
    const { logId, to: seq } = await this.#keeper.read(null, LEASE_MS);
    readers.connect(worker, { push: () => undefined }, { logId, seq });
    await readers.admit(worker);
  }

  async confirm(worker: string, { logId, seq }: Stamp): Promise<void> {
    this.#keeper.readers.confirm(worker, { logId, seq });
  }

  async leave(worker: string): Promise<void> {
    this.#workers.delete(worker);
    this.#keeper.readers.dismiss(worker);
  }

  async noteStranger(): Promise<void> {
    this.#hasStrangers = true;
  }

  async purge(id: string | null = null): Promise<Appended> {
    const result = this.#keeper.append(purge(["#a"], { id }));
    await this.#scheduler.advance(0);
    return purged(await result);
  }

  async isSettled(seq: number): Promise<boolean> {
    return (await this.#keeper.find(seq))!.settled;
  }

  async hold(seq: number, waitMs: number) {
    return { record: this.#keeper.find(seq, waitMs) };
  }

  async restart(): Promise<void> {
    this.#keeper.close();
    this.#hasStrangers = this.#workers.size > 0; // whose locks the next supervisor finds
    this.#keeper = this.#open();
  }

  async end(): Promise<void> {
    this.#keeper.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** One machine, as far as the shared log knows it. */
interface Machine {
  readonly note: MachineNote;
  log: PgPurgeLog;
}

/** A log in PostgreSQL. Its readers are machines. One more machine purges, and confirms its own purges at once. */
export class LogOfMachines implements SettlingLog {
  readonly boundMs = LEASE_MS + SKEW_MS;
  readonly earliestMs = 0;
  readonly #database: Database;
  readonly #machines = new Map<string, Machine>();
  readonly #timers = new Set<{ readonly at: number; readonly wake: () => void }>();
  #now = 0;
  #held!: HeldAnswers;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async start(database: Database): Promise<LogOfMachines> {
    const log = new LogOfMachines(database);
    await log.join("purger");
    log.#hold();
    return log;
  }

  #hold(): void {
    this.#held = new HeldAnswers(this.#purger, { now: () => this.#now, wait: (ms) => this.#timer(ms) });
  }

  get #purger(): PgPurgeLog {
    return this.#machines.get("purger")!.log;
  }

  async #open(machine: string, note: MachineNote): Promise<PgPurgeLog> {
    return PgPurgeLog.open({
      database: this.#database,
      note,
      name: machine,
      newId: randomUUID,
      elapsed: () => this.#now,
      onReplaced: () => undefined,
      now: () => this.#now,
    });
  }

  #timer(ms: number): Wait {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = { at: this.#now + ms, wake: resolve };
    this.#timers.add(timer);
    return { over: promise, cancel: () => void this.#timers.delete(timer) };
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.wake();
    }
  }

  async stepClock(ms: number): Promise<void> {
    this.#now += ms;
  }

  async join(machine: string): Promise<void> {
    const note = new MachineNote(null, randomUUID);
    const log = await this.#open(machine, note);
    this.#machines.set(machine, { note, log });
    const { logId, to: seq } = await log.read(null, LEASE_MS);
    await log.confirm({ logId, seq });
  }

  async confirm(machine: string, { logId, seq }: Stamp): Promise<void> {
    await this.#machines.get(machine)?.log.confirm({ logId, seq });
    this.#held.noteSettled();
  }

  async leave(machine: string): Promise<void> {
    await this.#machines.get(machine)!.log.leave();
    this.#machines.delete(machine);
  }

  /** A machine that knows another log shows that this one has taken its place, so others may read that one still. */
  async noteStranger(): Promise<void> {
    await this.#purger.read({ logId: "another", seq: 1 }, LEASE_MS);
  }

  async purge(id: string | null = null): Promise<Appended> {
    const result = purged(await this.#purger.append(purge(["#a"], { id })));
    for (const { log } of this.#machines.values()) await log.changesSince(null);
    await this.confirm("purger", result);
    return result;
  }

  async isSettled(seq: number): Promise<boolean> {
    return (await this.#purger.find(seq))!.settled;
  }

  async hold(seq: number, waitMs: number) {
    let isGiven = false;
    const timers = this.#timers.size;
    const record = this.#held.find(seq, waitMs).finally(() => {
      isGiven = true;
    });
    await until(() => isGiven || this.#timers.size > timers);
    return { record };
  }

  async restart(): Promise<void> {
    for (const [name, machine] of this.#machines) {
      machine.log = await this.#open(name, machine.note);
      await machine.log.read(null, LEASE_MS);
    }
    this.#hold();
  }

  async end(): Promise<void> {}
}
