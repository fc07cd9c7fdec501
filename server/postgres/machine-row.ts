import { LONGEST_USE_MS } from "../../worker/purges/log/log-contract.ts";
import { GrantedLeases, type LeasesOnRecord } from "../../worker/purges/settlement/granted-leases.ts";
import type { Database } from "./database.ts";
import { SharedLogError } from "./database-error.ts";
import type { MachineNote } from "./machine-note.ts";

/**
 * A machine that has not been heard of for this long, by the database's clock, is no longer a reader, like a lease (R6): it
 * may read for an hour after its last beat, and its workers may use R8 for a day after that.
 */
const SILENT_FOR = "26 hours";

/**
 * That clock may have been set, and the database may have been down for longer, so another machine has to look this often in
 * vain, too: each shows every ten seconds that it lives, and looks for the others.
 */
const LOOKS_IN_VAIN = 60;

export interface MachineRowParts {
  readonly database: Database;
  readonly note: MachineNote;
  /** The name by which the owner knows the machine among the others. */
  readonly name: string;
  readonly newId: () => string;
  /** Milliseconds since any fixed moment, on a clock that nobody can set. */
  readonly elapsed: () => number;
  /** The machine has a new row, in which nothing is confirmed. */
  readonly onRegistered: () => Promise<void>;
}

/** Another machine, as it was when it was last looked at. */
interface SeenMachine {
  readonly incarnation: string;
  readonly beat: number;
  /** How often it was like that again. */
  readonly times: number;
}

/** The machine's row among the readers of a log in PostgreSQL. It tells the lease that purges wait for. */
export class MachineRow {
  readonly #parts: MachineRowParts;
  /** Of this supervisor: another one may run in the same folder. */
  readonly incarnation: string;
  readonly #leases: GrantedLeases;
  readonly #seen = new Map<string, SeenMachine>();
  /** The lease that the row tells, in milliseconds. */
  #leaseMs = 0;
  #hasRow = false;
  /** When the last write began that the database has committed, by this machine's own clock. */
  #wroteAt = Number.NEGATIVE_INFINITY;
  #granting: Promise<void> = Promise.resolve();
  #registering: Promise<void> | null = null;

  constructor(parts: MachineRowParts) {
    this.#parts = parts;
    this.incarnation = parts.newId();
    let longest: LeasesOnRecord | null = null;
    this.#leases = new GrantedLeases({
      read: () => longest,
      write: (next) => {
        longest = next;
      },
    });
  }

  get leaseMs(): number {
    return this.#leaseMs;
  }

  /** This machine, as the functions of the database take it. */
  get reader(): string {
    return JSON.stringify({ machine: this.#machine, incarnation: this.incarnation, leaseMs: this.#leaseMs });
  }

  /** Registers the machine, unless it knows its row. */
  async register(): Promise<void> {
    if (!this.#hasRow) await this.registerInsteadOf(this.#machine);
  }

  /** Registers the machine because its row under this name is missing, unless that has happened meanwhile. */
  registerInsteadOf(machine: string): Promise<void> {
    if (this.#machine !== machine) return Promise.resolve();
    this.#registering ??= this.#insert().finally(() => {
      this.#registering = null;
    });
    return this.#registering;
  }

  /**
   * Throws if a lease could outlast what a purge would wait for it in a database that has taken the place of this one, if that
   * happened right after the last write here: the longest use, of machines that it does not know (R13). Reads go on where
   * the standby that must agree to writes is gone, and where a primary that was replaced is read-only.
   */
  expectWritten(useMs: number): void {
    if (!this.#hasRow || this.#parts.elapsed() + useMs <= this.#wroteAt + LONGEST_USE_MS) return;
    const words = "this server has written nothing to it for too long, and another database may have taken its place";
    throw new SharedLogError(this.#parts.database.where, words, "out-of-reach");
  }

  /** Sees to it that the machine's row tells the longest lease that any of its processes may use (R6). */
  grant(useMs: number): Promise<void> {
    // One after another, so that no call counts on a lease that is still being written.
    this.#granting = this.#granting.catch(() => undefined).then(() => this.#writeGrant(useMs));
    return this.#granting;
  }

  /** Shows that this machine lives, and forgets machines that have shown no life for long. */
  async beat(): Promise<void> {
    const startedAt = this.#parts.elapsed();
    const found = await this.#parts.database.query<{
      has_written: boolean;
      machine: string | null;
      incarnation: string;
      beat: number;
      is_overdue: boolean;
    }>(
      `WITH own AS (
         UPDATE tidemark_log_machines SET beat = beat + 1, heard_at = clock_timestamp()
         WHERE machine = $1 AND incarnation = $2 RETURNING true
       )
       SELECT EXISTS (SELECT FROM own) AS has_written, machine, incarnation, beat,
         clock_timestamp() NOT BETWEEN heard_at - interval '${SILENT_FOR}' AND heard_at + interval '${SILENT_FOR}' AS is_overdue
       FROM (VALUES (1)) AS one LEFT JOIN tidemark_log_machines ON machine <> $1`,
      [this.#machine, this.incarnation],
    );
    if (found[0]!.has_written) this.#wroteAt = startedAt;
    const rows = found.flatMap(({ machine, ...rest }) => (machine === null ? [] : [{ machine, ...rest }]));
    for (const { machine, incarnation, beat, is_overdue: isOverdue } of rows) {
      const seen = this.#seen.get(machine);
      const times = seen?.incarnation === incarnation && seen.beat === beat ? seen.times + 1 : 0;
      this.#seen.set(machine, { incarnation, beat, times });
      if (isOverdue && times >= LOOKS_IN_VAIN) await this.#forget(machine, incarnation, beat);
    }
    const living = new Set(rows.map(({ machine }) => machine));
    for (const machine of this.#seen.keys()) if (!living.has(machine)) this.#seen.delete(machine);
  }

  /** Leaves the readers: no process of this machine can hold a lease any more. */
  async leave(): Promise<void> {
    await this.#parts.database.query("DELETE FROM tidemark_log_machines WHERE machine = $1 AND incarnation = $2", [
      this.#machine,
      this.incarnation,
    ]);
    this.#hasRow = false;
  }

  get #machine(): string {
    return this.#parts.note.machine;
  }

  async #writeGrant(useMs: number): Promise<void> {
    await this.register();
    const elapsed = this.#parts.elapsed();
    this.#leases.grant(useMs, elapsed);
    const longestMs = this.#leases.longestLivingMs(elapsed);
    if (longestMs === this.#leaseMs) return;
    await this.#parts.database.query(
      "UPDATE tidemark_log_machines SET lease_ms = $3 WHERE machine = $1 AND incarnation = $2",
      [this.#machine, this.incarnation, longestMs],
    );
    this.#leaseMs = longestMs; // not before: a read that is under way would miss the lease in the row
  }

  /**
   * Makes the machine a reader. A row that is there is of an earlier supervisor of this folder, some of whose processes may
   * be alive, so its lease counts on. A row that has gone, or that another supervisor has taken, is left alone: this machine
   * then goes on under a new name. Its own row goes in the same statement in which the new one comes, because a purge in
   * between would not wait for its leases.
   */
  async #insert(): Promise<void> {
    const before = this.#machine;
    const startedAt = this.#parts.elapsed();
    if (this.#hasRow) this.#parts.note.renameMachine(this.#parts.newId());
    const [row] = await this.#parts.database.query<{ lease_ms: number }>(
      `WITH own AS (DELETE FROM tidemark_log_machines WHERE machine = $5 AND machine <> $1 AND incarnation = $3)
        INSERT INTO tidemark_log_machines AS known (machine, name, incarnation, lease_ms) VALUES ($1, $2, $3, $4)
        ON CONFLICT (machine) DO UPDATE SET name = excluded.name, incarnation = excluded.incarnation,
          lease_ms = greatest(known.lease_ms, excluded.lease_ms), log_id = NULL, confirmed = NULL,
          beat = known.beat + 1, heard_at = clock_timestamp()
        RETURNING lease_ms`,
      [this.#machine, this.#parts.name, this.incarnation, this.#leaseMs, before],
    );
    this.#hasRow = true;
    this.#wroteAt = startedAt;
    this.#leaseMs = row!.lease_ms;
    if (this.#leaseMs > 0) this.#leases.grant(this.#leaseMs, this.#parts.elapsed());
    await this.#parts.onRegistered();
  }

  async #forget(machine: string, incarnation: string, beat: number): Promise<void> {
    await this.#parts.database.query(
      "DELETE FROM tidemark_log_machines WHERE machine = $1 AND incarnation = $2 AND beat = $3",
      [machine, incarnation, beat],
    );
  }
}
