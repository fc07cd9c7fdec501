import type { UnseenKey } from "../../worker/metrics/unseen-key.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PurgeRecord, PurgeRecordPage } from "../../worker/ports/purge-log.ts";
import { HeldAnswers } from "../../worker/purges/log/held-answers.ts";
import type { AppendRequest, AppendResult, ReaderPosition, ViewDelta } from "../../worker/purges/log/log-contract.ts";
import { ReportIntake } from "../../worker/purges/log/report-intake.ts";
import type { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import type { LogFile } from "./log-file.ts";
import type { KeptReading, LogCalls } from "./log-messages.ts";
import { LogReaders } from "./log-readers.ts";

/** The longest time between two looks for repetitions that are due, in milliseconds: timers have an upper bound. */
const LOOK_EVERY_MS = 3_600_000;
/** The time until a repetition that failed, or a disk that takes no writes, is tried again. Milliseconds. */
const TRY_AGAIN_MS = 5_000;

/** How many repetitions that are due are carried out before the workers have their turn: a thousand may take seconds. */
const REPEATED_AT_ONCE = 10;

/** The steps of a purge, at which tests interrupt it. */
export type PurgeStep = "received" | "committed" | "pushed" | "confirmed";

/** The log as a supervisor serves it to its workers. */
export interface ServedLog extends LogCalls {
  readonly readers: LogReaders;
  /** Lets another log begin (R13). Absent from one that several machines share. */
  replace?(why: string): void;
  /** Whether that waits for the disk to take writes. */
  readonly isToBeReplaced?: boolean;
  /** To be called when the workers have ended. */
  close(): void | Promise<void>;
  /** Closes it for another process of this machine, whose readers the workers are from then on. */
  giveAway(): void | Promise<void>;
}

/** The settings for keeping a log, wherever it is. */
export interface KeeperOptions {
  readonly clock: Clock;
  /** Whether a reader may be alive on this machine that this supervisor did not start. */
  readonly hasStrangers: () => boolean;
  /** How long a receipt waits for the workers' confirmations: milliseconds. Default: 250. */
  readonly confirmWithinMs?: number | undefined;
  /** Called if a repetition could not be written, which is tried again. */
  readonly onFailure: (cause: unknown) => void;
  /** As in `ReportIntake`. Default: nobody is told. */
  readonly onCounts?: (cause: unknown) => void;
  readonly onStep?: ((step: PurgeStep, purge: AppendRequest) => void) | undefined;
}

export interface LogKeeperOptions extends KeeperOptions {
  readonly file: Pick<
    LogFile,
    | "use"
    | "usePurges"
    | "expectFile"
    | "replace"
    | "isToBeReplaced"
    | "useWithoutSync"
    | "noteHead"
    | "close"
    | "unwritable"
    | "comeBack"
  >;
  /** Called if the disk takes no writes. Until it does, the log is empty and accepts no purges. */
  readonly onUnwritable: (cause: unknown) => void;
  readonly onWritable: () => void;
  /** Called if a purge took longer to be written than the leases of its readers last. Default: nobody is told. */
  readonly onSlowCommit?: () => void;
}

/** The log as the supervisor keeps it: each purge is written, pushed to every worker, and then acknowledged (R24). */
export class LogKeeper implements ServedLog {
  readonly readers: LogReaders;
  readonly #options: LogKeeperOptions;
  readonly #file: LogKeeperOptions["file"];
  readonly #held: HeldAnswers;
  readonly #reports: ReportIntake;
  #nextLook: { cancel(): void } | null = null;
  #nextTry: { cancel(): void } | null = null;
  #isClosed = false;

  constructor(options: LogKeeperOptions) {
    const { file, clock, hasStrangers, confirmWithinMs } = options;
    this.#options = options;
    this.#file = file;
    let head = file.use((log) => log.head);
    const pushed = {
      head: () => {
        head = this.#try((log) => log.head) ?? head;
        return head;
      },
      changesSince: (position: Stamp | null) => this.#try((log) => log.changesSince(position)),
      // After a loss of power, a row only counts as unsettled for longer.
      settleUpTo: (position: Stamp) => {
        this.#try(() => file.useWithoutSync((log) => log.settleUpTo(position)));
        this.#held.noteSettled();
      },
    };
    this.#held = new HeldAnswers({ find: (seq) => this.#usePurges((log) => log.find(seq)) }, clock);
    this.readers = new LogReaders(pushed, clock, hasStrangers, confirmWithinMs);
    const store = (report: string) => {
      file.expectFile(); // or the owner would hear only from a purge that the file is gone
      file.useWithoutSync((_, ledger) => ledger.take(report)); // after a loss of power, only these counts are missing
    };
    this.#reports = new ReportIntake(store, options.onCounts);
    if (file.unwritable === null) this.#lookForRepeats();
    else {
      options.onUnwritable(file.unwritable);
      this.#tryAgain();
    }
  }

  async read(
    since: ReaderPosition | null,
    leaseMs: number,
    longestViewAgeMs?: number,
    report?: string,
  ): Promise<ViewDelta> {
    const outcome = this.#reports.outcomeOf(report);
    return { ...this.#file.use((log) => log.read(since, leaseMs, longestViewAgeMs)), ...outcome };
  }

  async report(report: string): Promise<void> {
    this.#reports.take(report);
  }

  async readLedger(lastMs: number | null, pop: string | null): Promise<string> {
    const isWritable = this.#file.unwritable === null && !this.#reports.fails;
    const reading: KeptReading = { ...this.#file.use((_, ledger) => ledger.read(lastMs, pop)), isWritable };
    return JSON.stringify(reading);
  }

  async findUnseen(keys: readonly string[]): Promise<readonly UnseenKey[]> {
    return this.#file.use((_, ledger) => ledger.unseen(keys));
  }

  async append(purge: AppendRequest): Promise<AppendResult> {
    const { onStep } = this.#options;
    onStep?.("received", purge);
    this.#file.expectFile();
    const result = this.#commit(purge);
    if (result.kind === "conflict") return result;
    onStep?.("committed", purge);
    this.#file.noteHead();
    if (purge.repeatAfterMs !== null) this.#lookForRepeats();
    const confirmations = this.readers.push({ logId: result.logId, seq: result.seq });
    onStep?.("pushed", purge);
    const hasSettled = await confirmations;
    onStep?.("confirmed", purge);
    // A late worker may still confirm, or end.
    const maySettleSooner = !hasSettled && !this.#options.hasStrangers();
    return { ...result, maySettleSooner, ...(hasSettled && { settlesInMs: 0 }) };
  }

  async list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    return this.#file.usePurges((log) => log.list(before, limit));
  }

  find(seq: number, waitMs = 0): Promise<PurgeRecord | null> {
    return this.#held.find(seq, waitMs);
  }

  replace(why: string): void {
    this.#file.replace(why);
    void this.readers.push(this.#file.use((log) => log.head));
  }

  get isToBeReplaced(): boolean {
    return this.#file.isToBeReplaced;
  }

  close(): void {
    this.#isClosed = true;
    this.#nextLook?.cancel();
    this.#nextTry?.cancel();
    this.readers.dismissAll();
    this.#held.fail(closedError());
    this.#file.close();
  }

  giveAway(): void {
    this.close();
  }

  /** Nothing else runs here while the disk writes, so nobody gets a lease. */
  #commit(purge: AppendRequest): AppendResult {
    const { clock, onSlowCommit } = this.#options;
    const since = clock.now();
    const result = this.#file.usePurges((log) => log.append(purge));
    if (clock.now() - since > purge.leaseMs) onSlowCommit?.();
    return result;
  }

  /** The file would open again if it is closed, and another process may own it by now. */
  #usePurges<T>(work: (log: SqlPurgeLog) => T): T {
    if (this.#isClosed) throw closedError();
    return this.#file.usePurges(work);
  }

  /** Waits until the disk takes writes. The workers then move from the log that stands in to the one in the file. */
  #tryAgain(): void {
    const wait = this.#options.clock.wait(TRY_AGAIN_MS);
    this.#nextTry = wait;
    void wait.over.then(() => {
      if (this.#isClosed) return;
      if (!this.#file.comeBack()) {
        this.#tryAgain();
        return;
      }
      this.#options.onWritable();
      void this.readers.push(this.#file.use((log) => log.head));
      this.#lookForRepeats();
    });
  }

  /**
   * The result; `null` if the storage fails, which is reported. Committed purges stay committed, and the lease bounds
   * the rest.
   */
  #try<T>(work: (log: SqlPurgeLog) => T): T | null {
    if (this.#isClosed) return null;
    try {
      return this.#file.use(work);
    } catch (cause) {
      this.#options.onFailure(cause);
      return null;
    }
  }

  /** Finds out when the next repetition is due, and waits for it. */
  #lookForRepeats(): void {
    this.#nextLook?.cancel();
    try {
      const dueInMs = this.#file.use((log) => log.nextDueInMs());
      if (dueInMs !== null) this.#lookAfter(Math.min(Math.max(0, dueInMs), LOOK_EVERY_MS));
    } catch (cause) {
      this.#options.onFailure(cause);
      this.#lookAfter(TRY_AGAIN_MS);
    }
  }

  #lookAfter(ms: number): void {
    const wait = this.#options.clock.wait(ms);
    this.#nextLook = wait;
    void wait.over.then(() => {
      if (!this.#isClosed) this.#repeat();
    });
  }

  #repeat(): void {
    try {
      const head = this.#file.use((log) => {
        log.runDue(REPEATED_AT_ONCE);
        return log.head;
      });
      this.#file.noteHead();
      void this.readers.push(head);
      this.#lookForRepeats();
    } catch (cause) {
      this.#options.onFailure(cause);
      this.#lookAfter(TRY_AGAIN_MS);
    }
  }
}

function closedError(): Error {
  return new Error("the purge log was closed");
}
