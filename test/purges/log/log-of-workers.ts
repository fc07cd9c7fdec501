import { randomUUID } from "node:crypto";
import type { Database, Notices } from "../../../server/postgres/database.ts";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import { PgPurgeLog } from "../../../server/postgres/pg-purge-log.ts";
import { SharedLogKeeper } from "../../../server/postgres/shared-log-keeper.ts";
import type { Wait } from "../../../worker/ports/clock.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import { turns } from "../../suite/turns.ts";
import { purge } from "./a-purge.ts";
import { type Appended, LEASE_MS, type SettlingLog, SKEW_MS } from "./settlement-contract.ts";

/** More turns of the event loop than any step takes that asks the database nothing. */
const QUIET_TURNS = 5;

/** This worker is on the machine that does not purge, and the others are on the one that does. */
const ON_THE_OTHER = "two";

/** A machine whose supervisor keeps the log for its workers. */
interface Machine {
  readonly note: MachineNote;
  readonly workers: Set<string>;
  hasStrangers: boolean;
  log: PgPurgeLog;
  keeper: SharedLogKeeper;
  notices: Notices;
}

/**
 * A log in PostgreSQL with two levels of readers: the workers of two machines confirm to the supervisor of their machine, and
 * each supervisor tells the log what all its workers have confirmed. The first machine purges.
 */
export class LogOfWorkers implements SettlingLog {
  readonly boundMs = LEASE_MS + SKEW_MS;
  readonly earliestMs = 0;
  readonly #database: Database;
  readonly #machines: Machine[] = [];
  readonly #timers = new Set<{ readonly at: number; readonly wake: () => void }>();
  #now = 0;
  #steppedMs = 0;
  /** The statements that the database has not answered. */
  #asked = 0;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async start(database: Database): Promise<LogOfWorkers> {
    const log = new LogOfWorkers(database);
    const { query } = log.#database;
    log.#database.query = async (text, values) => {
      log.#asked++;
      return query.call(log.#database, text, values).finally(() => log.#asked--) as Promise<never>;
    };
    for (let count = 0; count < 2; count++) {
      const machine = { note: new MachineNote(null, randomUUID), workers: new Set(), hasStrangers: false } as Machine;
      log.#machines.push(machine);
      await log.#open(machine);
    }
    return log;
  }

  async #open(machine: Machine): Promise<void> {
    const now = () => this.#now + this.#steppedMs;
    const elapsed = () => this.#now;
    const database = this.#database;
    machine.log = await PgPurgeLog.open({
      ...{ database, note: machine.note, name: "machine", newId: randomUUID, now, elapsed },
      onReplaced: () => undefined,
    });
    machine.keeper = await SharedLogKeeper.open({
      log: machine.log,
      database: {
        listen: async (notices) => {
          machine.notices = notices;
        },
        close: async () => undefined,
      },
      ledger: { close: () => undefined } as never,
      clock: { now, wait: (ms) => this.#wait(ms) },
      grant: { leaseMs: LEASE_MS, longestViewAgeMs: LEASE_MS },
      hasStrangers: () => machine.hasStrangers,
      ...{ confirmWithinMs: 0, machinesConfirmWithinMs: 0 },
      onFailure: (cause) => {
        throw cause;
      },
      onLateMachines: () => undefined,
    });
  }

  #wait(ms: number): Wait {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (ms <= 0) resolve();
    const timer = { at: this.#now + ms, wake: resolve };
    this.#timers.add(timer);
    return { over: promise, cancel: () => void this.#timers.delete(timer) };
  }

  /** Resolves when nothing goes on any more. Notices have arrived by then. */
  async #quiet(notice = ""): Promise<void> {
    for (const { notices } of this.#machines) notices.onNotice(notice);
    for (let quiet = 0; quiet < QUIET_TURNS; quiet = this.#asked === 0 ? quiet + 1 : 0) await turns(1);
  }

  #machineOf(worker: string): Machine | undefined {
    return this.#machines.find(({ workers }) => workers.has(worker));
  }

  async advance(ms: number): Promise<void> {
    this.#now += ms;
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue;
      this.#timers.delete(timer);
      timer.wake();
    }
    await this.#quiet();
  }

  async stepClock(ms: number): Promise<void> {
    this.#steppedMs += ms;
  }

  async join(worker: string): Promise<void> {
    const { keeper, workers } = this.#machines[worker === ON_THE_OTHER ? 1 : 0]!;
    workers.add(worker);
    keeper.readers.expect(worker);
    const { logId, to: seq } = await keeper.read(null, LEASE_MS);
    await this.#quiet();
    keeper.readers.connect(worker, { push: () => undefined }, { logId, seq });
    await keeper.readers.admit(worker);
    await this.#quiet();
  }

  async confirm(worker: string, { logId, seq }: Stamp): Promise<void> {
    const { keeper, log } = this.#machineOf(worker) ?? this.#machines[0]!;
    keeper.readers.confirm(worker, { logId, seq });
    await this.#quiet();
    await this.#quiet(JSON.stringify({ machine: log.machine, logId, seq }));
  }

  async leave(worker: string): Promise<void> {
    const { keeper, workers } = this.#machineOf(worker)!;
    workers.delete(worker);
    keeper.readers.dismiss(worker);
    await this.#quiet();
  }

  async noteStranger(): Promise<void> {
    this.#machines[0]!.hasStrangers = true;
  }

  async purge(id: string | null = null): Promise<Appended> {
    const result = await this.#machines[0]!.keeper.append(purge(["#a"], { id }));
    if (result.kind !== "appended") throw new Error("no conflict here");
    await this.#quiet();
    return result;
  }

  async isSettled(seq: number): Promise<boolean> {
    return (await this.#machines[0]!.keeper.find(seq))!.settled;
  }

  async hold(seq: number, waitMs: number) {
    const record = this.#machines[1]!.keeper.find(seq, waitMs);
    await this.#quiet();
    return { record };
  }

  async restart(): Promise<void> {
    for (const machine of this.#machines) {
      await machine.keeper.giveAway();
      machine.hasStrangers = machine.workers.size > 0;
      await this.#open(machine);
    }
    await this.#quiet();
  }

  async end(): Promise<void> {
    for (const { keeper } of this.#machines) await keeper.giveAway();
    await this.#database.close();
  }
}
