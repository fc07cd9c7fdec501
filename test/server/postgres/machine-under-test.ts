import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { PushChannel } from "../../../server/log/log-readers.ts";
import { sqlOver } from "../../../server/log/node-sql.ts";
import { Database } from "../../../server/postgres/database.ts";
import { MachineNote } from "../../../server/postgres/machine-note.ts";
import { PgPurgeLog } from "../../../server/postgres/pg-purge-log.ts";
import { SharedLogKeeper } from "../../../server/postgres/shared-log-keeper.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { SqlLedger } from "../../../worker/purges/log/sql-ledger.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import type { Stamp, StoredHead } from "../../../worker/rules/storing/stored-response.ts";

/** How long it waits for confirmations, of itself and of other machines; nothing else here waits for as long. */
const PATIENT_MS = 24 * 3_600_000;
const IMPATIENT_MS = 500;

export interface MachineOptions {
  /** The folder of its note. Default: a new one. */
  readonly folder?: string;
  /** Whether it hears notices of the database. Default: true. */
  readonly hears?: boolean;
  /** The name by which its owner knows it. Default: `machine`. */
  readonly name?: string;
  /** Its own clock that nobody can set. */
  readonly elapsed?: () => number;
  /** By how much its wall clock is ahead. Default: not at all. */
  readonly clockAheadMs?: number;
  readonly hasStrangers?: () => boolean;
}

/** The supervisor's part of a machine that shares the log, with one worker whose view is real. */
export class MachineUnderTest {
  readonly folder: string;
  readonly failures: unknown[] = [];
  /** What it has told its owner of: that the log was replaced, and which machines were late. */
  readonly told: readonly string[];
  readonly log: PgPurgeLog;
  readonly database: Database;
  readonly keeper: SharedLogKeeper;
  readonly view = new PurgeView(64 * 1024);
  /** Whether it waits for confirmations for as long as a slow machine may take. */
  isPatient = true;
  /** Whether its worker takes in what is pushed. */
  isListening = true;

  private constructor(folder: string, told: string[], log: PgPurgeLog, database: Database, keeper: SharedLogKeeper) {
    this.folder = folder;
    this.told = told;
    this.log = log;
    this.database = database;
    this.keeper = keeper;
  }

  static async start(url: string, options: MachineOptions = {}): Promise<MachineUnderTest> {
    const {
      folder = mkdtempSync(join(tmpdir(), "tidemark-")),
      hears = true,
      hasStrangers = () => false,
      name = "machine",
    } = options;
    const database = await Database.over({ url, clock: systemClock, random: Math.random });
    const elapsed = options.elapsed ?? systemClock.elapsed;
    const now = () => systemClock.now() + (options.clockAheadMs ?? 0);
    const counts = new DatabaseSync(":memory:");
    let machine: MachineUnderTest | undefined;
    const failures: unknown[] = [];
    const told: string[] = [];
    try {
      const note = new MachineNote(folder, randomUUID);
      const onReplaced = () => void told.push("replaced");
      const log = await PgPurgeLog.open({ database, note, name, newId: randomUUID, elapsed, onReplaced });
      const deaf = { listen: () => new Promise<never>(() => undefined), close: () => database.close() };
      const keeper = await SharedLogKeeper.open({
        log,
        database: hears ? database : deaf,
        ledger: Object.assign(new SqlLedger(sqlOver(counts), now), {
          close: () => void (counts.isOpen && counts.close()),
        }),
        clock: {
          ...systemClock,
          now,
          wait: (ms) => systemClock.wait(ms === PATIENT_MS && machine?.isPatient === false ? IMPATIENT_MS : ms),
        },
        grant: { leaseMs: 1000, longestViewAgeMs: 1000 },
        hasStrangers,
        confirmWithinMs: PATIENT_MS,
        machinesConfirmWithinMs: PATIENT_MS,
        onFailure: (cause) => failures.push(cause),
        onLateMachines: (names) => told.push(`late: ${names.join(", ")}`),
      });
      machine = new MachineUnderTest(folder, told, log, database, keeper);
      machine.failures.push(...failures);
      await machine.#admitWorker();
      return machine;
    } catch (cause) {
      await database.close();
      throw cause;
    }
  }

  async #admitWorker(): Promise<void> {
    const { readers } = this.keeper;
    readers.expect("worker");
    const channel: PushChannel = {
      push: (delta) => {
        if (!this.isListening) return;
        void (async () => {
          const isOfThisLog = this.view.position?.logId === delta.logId;
          if (!isOfThisLog || !this.view.apply(delta)) await this.read();
          readers.confirm("worker", this.view.position!);
        })().catch(() => undefined);
      },
    };
    await this.read();
    readers.connect("worker", channel, null);
    await readers.admit("worker");
  }

  /** The worker reads the log, as it does when its lease is over. */
  async read(): Promise<void> {
    this.view.apply(await this.keeper.read(this.view.readerPosition, 1000));
  }

  get position(): Stamp {
    return this.view.position!;
  }

  /** What the worker thinks of a response with this stamp and this purge key. */
  check(key: string, stamp: Stamp): string {
    return this.view.check({ key: "http://h/", stamp, givenPurgeKeys: [key] } as unknown as StoredHead, true);
  }

  async stop(): Promise<void> {
    await this.keeper.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Ends without a word to the log, like a process that was killed. Its folder stays. */
  async die(): Promise<void> {
    await this.database.close();
    await this.keeper.giveAway(); // ends its timers, which would go on beside later tests
  }
}
