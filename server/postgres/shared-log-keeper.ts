import type { PurgeRecord, PurgeRecordPage } from "../../worker/ports/purge-log.ts";
import { HeldAnswers } from "../../worker/purges/log/held-answers.ts";
import type { AppendRequest, AppendResult, ReaderPosition, ViewDelta } from "../../worker/purges/log/log-contract.ts";
import type { LogStorage } from "../../worker/purges/log/log-storage.ts";
import { ReportIntake } from "../../worker/purges/log/report-intake.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { AskedTogether } from "../asked-together.ts";
import type { GrantAtStart } from "../log/log-file.ts";
import type { KeeperOptions, ServedLog } from "../log/log-keeper.ts";
import type { KeptReading } from "../log/log-messages.ts";
import { LogReaders } from "../log/log-readers.ts";
import type { Database, Notices } from "./database.ts";
import type { LedgerFile } from "./ledger-file.ts";
import { MachineConfirmations } from "./machine-confirmations.ts";
import type { PgPurgeLog } from "./pg-purge-log.ts";

/** How often a machine shows that it lives and looks for repetitions, in milliseconds. */
const BEAT_EVERY_MS = 10_000;

/**
 * A notice of a confirmation may be lost, and a machine leaves without one, so that the log is asked again after this time
 * about purges that are waited for. Milliseconds.
 */
const ASK_AGAIN_MS = 1000;

/** The part of the log in the database that a supervisor calls. */
export type SharedLog = Pick<PgPurgeLog, keyof LogStorage | "unconfirmed" | "confirm" | "beat" | "leave">;

export interface SharedLogKeeperOptions extends KeeperOptions {
  readonly log: SharedLog;
  readonly database: Pick<Database, "listen" | "close">;
  /** The counts of this machine's workers. */
  readonly ledger: Pick<LedgerFile, "take" | "read" | "close">;
  readonly grant: GrantAtStart;
  /** How long a receipt waits for other machines' confirmations: milliseconds. Default: 500. */
  readonly machinesConfirmWithinMs?: number;
  /** A purge settles by the lease, because the machines of these names did not confirm it in time. */
  readonly onLateMachines: (names: readonly string[]) => void;
}

/**
 * The log that several machines share, as the supervisor of one of them keeps it. The supervisor reads the log for its
 * workers, pushes them what other machines have purged, and tells the log when all of them have confirmed it (R24).
 */
export class SharedLogKeeper implements ServedLog {
  readonly readers: LogReaders;
  readonly #options: SharedLogKeeperOptions;
  readonly #log: SharedLog;
  readonly #machines: MachineConfirmations;
  readonly #held: HeldAnswers;
  readonly #reports: ReportIntake;
  readonly #timers = new Set<{ cancel(): void }>();
  /** The last reply to this machine itself: its head, and the purges of its last step. */
  #latest: ViewDelta;
  readonly #steps = new AskedTogether<void, void>(() => this.#readStep());
  #toConfirm: Stamp | null = null;
  /** The position that the log could not be told, because it was out of reach. */
  #notTold: Stamp | null = null;
  #confirming: Promise<void> = Promise.resolve();
  #hasFailed = false;
  /** What the owner was told of although reads work. */
  readonly #failing = new Set<"notices" | "beats">();
  #isClosed = false;
  #looksForRepeats = false;
  /** Repetitions may have been accepted since the last look. */
  #hasNewRepeats = false;

  private constructor(options: SharedLogKeeperOptions, first: ViewDelta) {
    const { log, clock, hasStrangers, confirmWithinMs, machinesConfirmWithinMs, onLateMachines } = options;
    this.#options = options;
    this.#log = log;
    this.#latest = first;
    const unconfirmed = (position: Stamp) => log.unconfirmed(position);
    this.#machines = new MachineConfirmations(unconfirmed, clock, onLateMachines, machinesConfirmWithinMs);
    this.#held = new HeldAnswers(log, clock);
    this.#reports = new ReportIntake((report) => options.ledger.take(report), options.onCounts);
    const pushed = {
      head: () => headOf(this.#latest),
      changesSince: (position: Stamp | null) => this.#changesSince(position),
      settleUpTo: (position: Stamp) => this.#confirmSoon(position),
    };
    this.readers = new LogReaders(pushed, clock, hasStrangers, confirmWithinMs);
  }

  /** Rejects if the log cannot be read, because no worker could begin to answer without it. */
  static async open(options: SharedLogKeeperOptions): Promise<SharedLogKeeper> {
    const { log, database, grant } = options;
    const first = await log.read(null, grant.leaseMs, grant.longestViewAgeMs);
    await log.beat();
    const keeper = new SharedLogKeeper(options, first);
    const notices: Notices = {
      onListening: () => {
        keeper.#failing.delete("notices");
        void keeper.#catchUp();
      },
      onNotice: (payload) => keeper.#take(payload),
      onLost: (cause) => keeper.#noteFailure(cause, "notices"),
    };
    void database.listen(notices);
    void keeper.#every(grant.leaseMs, () => keeper.#catchUp());
    void keeper.#every(BEAT_EVERY_MS, () => keeper.#beat());
    void keeper.#every(ASK_AGAIN_MS, async () => keeper.#held.noteSettled());
    void keeper.#lookForRepeats();
    return keeper;
  }

  async read(
    since: ReaderPosition | null,
    leaseMs: number,
    longestViewAgeMs?: number,
    report?: string,
  ): Promise<ViewDelta> {
    const outcome = this.#reports.outcomeOf(report);
    const delta = await this.#log.read(since, leaseMs, longestViewAgeMs);
    this.#noteWorks();
    if (!isSame(headOf(delta), headOf(this.#latest))) void this.#catchUp();
    return { ...delta, ...outcome };
  }

  async report(report: string): Promise<void> {
    this.#reports.take(report);
  }

  async readLedger(lastMs: number | null, pop: string | null): Promise<string> {
    const reading: KeptReading = { ...this.#options.ledger.read(lastMs, pop), isWritable: !this.#reports.fails };
    return JSON.stringify(reading);
  }

  /** Each machine keeps counts of its own, and does not know which pages the others have stored: it says nothing. */
  async findUnseen(): Promise<readonly []> {
    return [];
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const { onStep } = this.#options;
    onStep?.("received", purge);
    const result = await this.#log.append(purge);
    if (result.kind === "conflict") return result;
    onStep?.("committed", purge);
    if (purge.repeatAfterMs !== null) void this.#lookForRepeats();
    const position = { logId: result.logId, seq: result.seq };
    // Other machines follow an unsafe request later (R15), and nobody reads its receipt.
    const others = purge.mode === "invalidate" ? false : this.#machines.confirmed(position);
    await this.#catchUp();
    const own = this.readers.push(position);
    onStep?.("pushed", purge);
    const hasSettled = (await Promise.all([own, others])).every((each) => each);
    onStep?.("confirmed", purge);
    if (headOf(this.#latest).logId !== result.logId) return result;
    if (!result.maySettleSooner) return result; // unknown machines may still run (R13)
    // A machine that is late may confirm after all, or leave.
    if (!hasSettled) return { ...result, maySettleSooner: !this.#options.hasStrangers() };
    await this.#log.settleUpTo(position).catch(this.#options.onFailure); // the row only counts as unsettled for longer
    this.#held.noteSettled();
    return { ...result, settlesInMs: 0, maySettleSooner: false };
  }

  list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    return this.#log.list(before, limit);
  }

  find(seq: number, waitMs = 0): Promise<PurgeRecord | null> {
    return this.#held.find(seq, waitMs);
  }

  async close(): Promise<void> {
    await this.#endWork();
    // A worker of an earlier supervisor that is still alive may hold a lease.
    if (!this.#options.hasStrangers()) await this.#log.leave().catch(() => undefined);
    await this.#disconnect();
  }

  /** The machine stays a reader: its row tells the leases of the workers, and the next process takes it over. */
  async giveAway(): Promise<void> {
    await this.#endWork();
    await this.#disconnect();
  }

  async #endWork(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.readers.dismissAll();
    this.#held.fail(new Error("the purge log was closed"));
    await this.#catchUp(); // no step is under way any more
    await this.#confirming;
  }

  async #disconnect(): Promise<void> {
    await this.#options.database.close();
    this.#options.ledger.close();
  }

  /**
   * Reads what other machines have purged, and pushes it to the workers. Resolves after a read that began after this call,
   * which may have failed.
   */
  #catchUp(): Promise<void> {
    return this.#steps.ask();
  }

  async #readStep(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const delta = await this.#log.changesSince(headOf(this.#latest));
      this.#noteWorks();
      if (!isSame(headOf(delta), headOf(this.#latest))) {
        this.#latest = delta;
        void this.readers.push(headOf(delta));
      }
      if (this.#notTold !== null && this.#toConfirm === null) this.#confirmSoon(this.#notTold);
    } catch (cause) {
      this.#noteFailure(cause);
    }
  }

  /**
   * The last step, if it connects to this position; or else a reply that begins at the head, which a view that is not there
   * refuses (R12), so that its worker reads the log.
   */
  #changesSince(position: Stamp | null): ViewDelta {
    const latest = this.#latest;
    const connects = position?.logId === latest.logId && position.seq >= latest.from && latest.truncatedAt === 0;
    if (connects) return latest;
    return { ...latest, from: latest.to, truncatedAt: 0, unread: null, items: new Uint32Array(0) };
  }

  #take(payload: string): void {
    const { machine, logId, seq } = payload === "" ? ({} as Partial<Confirmation>) : readConfirmation(payload);
    if (machine === undefined) {
      void this.#catchUp();
      return;
    }
    this.#machines.note(machine, { logId: logId!, seq: seq! });
    this.#held.noteSettled();
  }

  /** Tells the log what all workers have confirmed: the newest such position, one after another. */
  #confirmSoon(position: Stamp): void {
    const isUnderWay = this.#toConfirm !== null;
    this.#toConfirm = position;
    if (!isUnderWay) this.#confirming = this.#confirm();
  }

  async #confirm(): Promise<void> {
    while (this.#toConfirm !== null) {
      const position: Stamp = this.#toConfirm;
      try {
        this.#notTold = null;
        await this.#log.confirm(position);
      } catch (cause) {
        this.#notTold = position;
        this.#noteFailure(cause);
      }
      if (this.#toConfirm === position) this.#toConfirm = null;
    }
  }

  async #beat(): Promise<void> {
    try {
      await this.#log.beat();
      this.#failing.delete("beats");
      void this.#lookForRepeats();
    } catch (cause) {
      this.#noteFailure(cause, "beats");
    }
  }

  /** Carries out the repetitions that are due, as long as another one falls due before the next beat. */
  async #lookForRepeats(): Promise<void> {
    this.#hasNewRepeats = true;
    if (this.#looksForRepeats) return;
    this.#looksForRepeats = true;
    try {
      while (this.#hasNewRepeats && !this.#isClosed) {
        this.#hasNewRepeats = false;
        const dueInMs = await this.#log.nextDueInMs();
        if (dueInMs === null || dueInMs > BEAT_EVERY_MS) continue;
        this.#hasNewRepeats = true;
        // One that is accepted meanwhile may be due before.
        if (dueInMs > 0) await this.#wait(Math.min(dueInMs, ASK_AGAIN_MS));
        else if (!this.#isClosed) await this.#log.runDue();
      }
    } catch (cause) {
      this.#noteFailure(cause); // the next beat tries again
    } finally {
      this.#looksForRepeats = false;
    }
  }

  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    for (;;) {
      await this.#wait(ms);
      if (this.#isClosed) return;
      await work();
    }
  }

  async #wait(ms: number): Promise<void> {
    const ended = Promise.withResolvers<void>();
    const wait = this.#options.clock.wait(ms);
    const timer = {
      cancel: () => {
        wait.cancel();
        ended.resolve();
      },
    };
    this.#timers.add(timer);
    await Promise.race([wait.over, ended.promise]);
    this.#timers.delete(timer);
  }

  /** Tells the owner of an outage once, and of what else has failed once until it works. */
  #noteFailure(cause: unknown, what?: "notices" | "beats"): void {
    if (this.#hasFailed || this.#isClosed || (what && this.#failing.has(what))) return;
    this.#hasFailed = true;
    if (what) this.#failing.add(what);
    this.#options.onFailure(cause);
  }

  #noteWorks(): void {
    this.#hasFailed = false;
  }
}

interface Confirmation extends Stamp {
  readonly machine: string;
}

/** Everybody who may use the database may send any notice, and none must end the process. */
function readConfirmation(payload: string): Partial<Confirmation> {
  try {
    const { machine, logId, seq } = JSON.parse(payload) as Partial<Confirmation>;
    const isOne = typeof machine === "string" && typeof logId === "string" && typeof seq === "number";
    return isOne ? { machine, logId, seq } : {};
  } catch {
    return {};
  }
}

function headOf({ logId, to }: ViewDelta): Stamp {
  return { logId, seq: to };
}

function isSame(a: Stamp, b: Stamp): boolean {
  return a.logId === b.logId && a.seq === b.seq;
}
