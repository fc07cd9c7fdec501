import { randomUUID } from "node:crypto";
import type { LogCalls } from "../../../server/log/log-messages.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";
import { SqlLedger } from "../../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import { Storages } from "../memory/storages.ts";

/** Storages of logs that no scenario uses now. */
const free: Sql[] = [];

/** The log and the ledger of a machine, over SQLite. Its workers can be cut off from it, and it can lose its storage. */
export class ServerLog {
  isReachable = true;
  readonly #now: () => number;
  readonly #storages = new Storages(free);
  #log!: SqlPurgeLog;
  #ledger!: SqlLedger;

  constructor(now: () => number) {
    this.#now = now;
    this.makeAnew();
  }

  /** Its storage is lost, and it begins with an empty one. */
  makeAnew(): void {
    const sql = this.#storages.empty();
    this.#log = new SqlPurgeLog(sql, {}, this.#now, randomUUID);
    this.#ledger = new SqlLedger(sql, this.#now);
  }

  /** Nobody reaches it from now on, and its storage is used again. */
  end(): void {
    this.isReachable = false;
    this.#storages.giveBack();
  }

  /** In how many milliseconds the next repeat of a purge is due. */
  nextDueInMs(): number | null {
    return this.#log.nextDueInMs();
  }

  runDue(): void {
    this.#log.runDue();
  }

  /** As a worker calls it. */
  readonly calls: LogCalls = {
    read: async (since, leaseMs, longestViewAgeMs, report) => {
      if (report !== undefined) this.#reached.ledger.take(report);
      return this.#reached.log.read(since, leaseMs, longestViewAgeMs);
    },
    append: async (purge) => this.#reached.log.append(purge),
    list: async (before, limit) => this.#reached.log.list(before, limit),
    find: async (seq) => this.#reached.log.find(seq),
    report: async (report) => this.#reached.ledger.take(report),
    readLedger: async (...asked) => JSON.stringify(this.#reached.ledger.read(...asked)),
    findUnseen: async (keys) => this.#reached.ledger.unseen(keys),
  };

  get #reached(): { readonly log: SqlPurgeLog; readonly ledger: SqlLedger } {
    if (!this.isReachable) throw new Error("the log does not answer");
    return { log: this.#log, ledger: this.#ledger };
  }
}
