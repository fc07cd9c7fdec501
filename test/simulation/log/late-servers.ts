import { LogKeeper, type LogKeeperOptions, type ServedLog } from "../../../server/log/log-keeper.ts";
import { SharedLogKeeper } from "../../../server/postgres/shared-log-keeper.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import type { ViewDelta } from "../../../worker/purges/log/log-contract.ts";
import type { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Fate } from "../fate.ts";
import { LateDatabase, type Machine } from "./late-database.ts";
import type { Learner, Reader } from "./late-log.ts";
import { LateSupervisor } from "./late-supervisor.ts";

/** The lease and the view age that a supervisor grants as it starts: milliseconds. */
const GRANT = { leaseMs: 1000, longestViewAgeMs: 1000 };

/** A worker that hangs is ended after this time at most: milliseconds. */
const ENDED_WITHIN_MS = 6000;

/** The log that servers keep. */
export interface KeptLog {
  log(): SqlPurgeLog;
  /** Gives a push to a worker, and records what it knows then. */
  learns(learner: Learner, pushed: ViewDelta): Promise<boolean>;
  readonly longestUseMs: number;
}

/** The supervisors of one's own servers: one with a log of its own, or one for each PoP with a log that they share. */
export class LateServers {
  readonly #fate: Fate;
  readonly #kept: KeptLog;
  readonly #clock: Clock;
  readonly #supervisors: readonly LateSupervisor[];
  readonly #machines: readonly Machine[];
  /** `null` for one with a log of its own. */
  readonly #database: LateDatabase | null;
  #failsUntil = Number.NEGATIVE_INFINITY;

  constructor(fate: Fate, kept: KeptLog, count: number) {
    const { scheduler } = fate;
    this.#fate = fate;
    this.#kept = kept;
    this.#clock = { now: () => fate.now(), wait: (ms) => scheduler.wait(ms) };
    const server = {
      log: () => this.#log,
      isSilent: () => fate.now() < this.#failsUntil,
      now: () => fate.now(),
      longestUseMs: kept.longestUseMs,
    };
    this.#database = count > 1 ? new LateDatabase(fate, server) : null;
    this.#machines = Array.from({ length: count }, (_, index) => ({
      name: `machine ${index + 1}`,
      cutOffUntil: Number.NEGATIVE_INFINITY,
    }));
    const { learns } = kept;
    this.#supervisors = this.#machines.map(
      (machine) => new LateSupervisor(fate, { open: () => this.#open(machine), learns }),
    );
  }

  /** Starts a worker. Resolves when it may answer visitors, or has ended before. */
  start(learner: Learner): Promise<void> {
    return this.#supervisorOf(learner.reader).start(learner);
  }

  /** Its process has ended, or hangs until its supervisor ends it. */
  noteDeath(reader: Reader): void {
    const end = () => {
      reader.hasEnded = true;
      this.#fate.history.gaveUp.add(reader.name);
      this.#supervisorOf(reader).end(reader.name);
    };
    const hangs = this.#fate.chance(0.3);
    this.#fate.count("processes that ended", !hangs);
    this.#fate.count("processes that hung", hangs);
    if (hangs) void this.#fate.delay(ENDED_WITHIN_MS).then(end);
    else end();
  }

  call<T>(reader: Reader, work: (log: ServedLog) => Promise<T>): Promise<T> {
    return this.#supervisorOf(reader).call(reader, work);
  }

  /** The log's storage fails; or a supervisor hangs, or a machine does not reach the database. */
  fallSilent(ms: number): void {
    const fate = this.#fate;
    const supervisor = fate.pick(this.#supervisors);
    const until = fate.faultFor(ms);
    const fault = fate.pick(["storage", "supervisor", "machine"] as const);
    fate.count("faults of a server's log", fault === "storage");
    fate.count("supervisors that hung", fault === "supervisor");
    if (fault === "storage") this.#failsUntil = until;
    else if (fault === "supervisor") supervisor.fallSilent(ms);
    else this.#machines[this.#supervisors.indexOf(supervisor)]!.cutOffUntil = until;
  }

  /** Another supervisor takes the place of one, or the database restarts. */
  restart(): void {
    const fate = this.#fate;
    if (this.#database && fate.chance(0.3)) {
      this.#database.restart();
    } else {
      fate.count("supervisors that were replaced");
      fate.pick(this.#supervisors).replace();
    }
  }

  /** Damage was found in the log's file, or its database was emptied. */
  noteLogMadeAnew(): void {
    this.#fate.count("log files that were set aside for damage", this.#database === null);
    this.#fate.count("databases that were emptied", this.#database !== null);
    if (this.#database === null) this.#log.replace(); // as the server does
    this.#database?.empty();
  }

  get #log(): SqlPurgeLog {
    return this.#kept.log();
  }

  #supervisorOf({ pop }: Reader): LateSupervisor {
    return this.#supervisors[pop % this.#supervisors.length]!;
  }

  async #open(machine: Machine): Promise<ServedLog> {
    const clock = this.#clock;
    const options = { clock, hasStrangers: () => false, onFailure: () => undefined };
    const database = this.#database;
    if (database === null) {
      const disk = { onUnwritable: () => undefined, onWritable: () => undefined };
      return new LogKeeper({ ...options, ...disk, file: this.#file() });
    }
    const listened = database.listenedBy(machine);
    const closed = {
      ...options,
      ledger: { close: () => undefined } as never,
      grant: GRANT,
      onLateMachines: () => undefined,
    };
    return SharedLogKeeper.open({ ...closed, log: database.calledBy(machine), database: listened });
  }

  /** A file whose disk fails for a while. */
  #file(): LogKeeperOptions["file"] {
    const use = <T>(work: (log: SqlPurgeLog, ledger: never) => T): T => {
      if (this.#fate.now() < this.#failsUntil) throw new Error("the disk fails");
      return work(this.#log, null as never);
    };
    return {
      use,
      usePurges: use,
      expectFile: () => undefined,
      replace: () => undefined,
      isToBeReplaced: false,
      useWithoutSync: use,
      unwritable: null,
      comeBack: () => true,
      noteHead: () => undefined,
      close: () => undefined,
    };
  }
}
