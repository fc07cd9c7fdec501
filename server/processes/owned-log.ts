import { randomUUID } from "node:crypto";
import type { Clock } from "../../worker/ports.ts";
import type { AppendRequest } from "../../worker/purges/log/log-contract.ts";
import type { LogSettings } from "../../worker/purges/log/log-settings.ts";
import type { Clocks } from "../log/clock-steps.ts";
import { type GrantAtStart, LogFile } from "../log/log-file.ts";
import { LogFolder } from "../log/log-folder.ts";
import { LogKeeper, type PurgeStep, type ServedLog } from "../log/log-keeper.ts";
import type { LogReaders } from "../log/log-readers.ts";
import { LogServer } from "../log/log-server.ts";
import { MachineNote } from "../log/postgres/machine-note.ts";
import { expectSharedLog, openSharedLog } from "../log/postgres/open-shared-log.ts";
import type { SupervisorEvent } from "./supervisor-events.ts";

export interface OwnedLogOptions {
  /** The folder of the log, of the locks and of the log's socket. */
  readonly folder: string;
  readonly clock: Clock & Clocks;
  readonly report: (event: SupervisorEvent) => void;
  readonly logSettings?: Partial<LogSettings>;
  /** The address of the PostgreSQL database whose log several machines share. Default: a log of its own in the folder. */
  readonly sharedLog?: string;
  /** Called at the steps of each purge, for tests that interrupt it. */
  readonly onPurgeStep?: (step: PurgeStep, purge: AppendRequest) => void;
}

/** Rejects, with a message for the owner, if the log is one of several machines and cannot be used now. */
export async function expectLog({ sharedLog, clock }: Pick<OwnedLogOptions, "sharedLog" | "clock">): Promise<void> {
  if (sharedLog !== undefined) await expectSharedLog({ url: sharedLog, clock, random: Math.random });
}

/** The purge log and its folder, as one supervisor owns them and serves them to its workers. */
export class OwnedLog {
  readonly #options: OwnedLogOptions;
  readonly #id = randomUUID();
  #folder: LogFolder;
  #ownsFolder = true;
  #keeper: ServedLog | null = null;
  #server: LogServer | null = null;

  /** `known`: the lock of workers that are no strangers. Throws what `LogFolder.own` throws. */
  constructor(options: OwnedLogOptions, known: string | null) {
    this.#options = options;
    this.#folder = LogFolder.own(options.folder, this.#id, known);
  }

  get isOpen(): boolean {
    return this.#keeper !== null;
  }

  /** Throws unless it is open. */
  get readers(): LogReaders {
    if (this.#keeper === null) throw new Error("the purge log was closed");
    return this.#keeper.readers;
  }

  get socketPath(): string {
    return this.#folder.socketPath;
  }

  /** The file that each worker of this supervisor locks. */
  get workersLock(): string {
    return this.#folder.workersLock;
  }

  /** Whether a worker of an earlier supervisor is still alive. */
  hasOrphans(): boolean {
    return this.#folder.hasOrphans();
  }

  /** The name by which the log expects a worker. One that outlives its supervisor must not pass for one of the next. */
  readerOf(worker: string): string {
    return `${worker} of ${this.#id}`;
  }

  /** Opens the log and serves it. `readers`: those who are readers already when it is open. */
  async open(grant: GrantAtStart, readers: () => readonly string[]): Promise<void> {
    this.#keeper = await this.#keep(grant);
    for (const reader of readers()) this.#keeper.readers.adopt(reader);
    const broken = (cause: unknown) => this.#options.report({ kind: "broken-peer", cause });
    this.#server = new LogServer(this.#keeper, this.#keeper.readers, broken);
    await this.#server.listen(this.#folder.socketPath);
  }

  /** Closes the log and leaves its folder to the next supervisor. Call it when the workers have ended. */
  close(): Promise<void> {
    return this.#leave((keeper) => keeper.close());
  }

  /** The same for a supervisor whose readers the workers are from then on. */
  giveAway(): Promise<void> {
    return this.#leave((keeper) => keeper.giveAway());
  }

  async #leave(end: (keeper: ServedLog) => void | Promise<void>): Promise<void> {
    const keeper = this.#keeper;
    this.#keeper = null;
    await this.#server?.close();
    this.#server = null;
    if (keeper !== null) await end(keeper);
    if (this.#ownsFolder) this.#folder.release();
    this.#ownsFolder = false;
  }

  /** Owns the folder again, after `giveAway`. */
  takeBack(): void {
    this.#folder = LogFolder.own(this.#options.folder, this.#id);
    this.#ownsFolder = true;
  }

  /** The process of a reader has ended. */
  dismiss(reader: string): void {
    this.#keeper?.readers.dismiss(reader);
  }

  /** The workers that hold this lock are strangers from now on. */
  forget(lock: string): void {
    this.#folder.forget(lock);
  }

  async #keep(grant: GrantAtStart): Promise<ServedLog> {
    const { folder, clock, report, logSettings, onPurgeStep, sharedLog } = this.#options;
    const kept = {
      clock,
      hasStrangers: () => this.#folder.hasOrphans(),
      onFailure: (cause: unknown) => report({ kind: "log-failed", cause }),
      onStep: onPurgeStep,
    };
    const settings = logSettings && { settings: logSettings };
    if (sharedLog !== undefined) {
      return openSharedLog({ url: sharedLog, folder, grant, ...kept, ...settings, random: Math.random });
    }
    MachineNote.expectNoneIn(folder);
    const file = new LogFile({
      folder,
      clocks: clock,
      newId: randomUUID,
      grant,
      ...settings,
      onDamage: (setAside, cause) => report({ kind: "log-replaced", setAside, cause }),
    });
    return new LogKeeper({ file, ...kept });
  }
}
