import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../../server/log/node-sql.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";

/**
 * The storages of one world's logs. To open one, and to prepare its statements, takes longer than to empty it, so they are
 * used again: `free` holds those that no world uses now. It belongs to the module that makes the logs, since a mutant that
 * writes other tables runs that module anew, and must not meet the tables of others.
 */
export class Storages {
  readonly #free: Sql[];
  readonly #used = new Set<Sql>();

  constructor(free: Sql[]) {
    this.#free = free;
  }

  /** One that holds nothing. */
  empty(): Sql {
    const sql = this.#free.pop() ?? sqlOver(new DatabaseSync(":memory:"));
    for (const { name } of sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'")) {
      sql.exec(`DELETE FROM "${name}"`);
    }
    this.#used.add(sql);
    return sql;
  }

  /** It is not used again: it was left in a state that emptying does not undo. */
  keep(sql: Sql): void {
    this.#used.delete(sql);
  }

  /** The world is over. */
  giveBack(): void {
    this.#free.push(...this.#used);
    this.#used.clear();
  }
}
