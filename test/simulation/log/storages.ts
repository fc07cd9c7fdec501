import { DatabaseSync } from "node:sqlite";
import { sqlOver } from "../../../server/log/node-sql.ts";
import type { Sql } from "../../../worker/purges/log/sql.ts";

/** The storages of logs that no world uses now. To open one, and to prepare its statements, takes longer than to empty it. */
const free: Sql[] = [];

/** The storages of one world's logs. */
export class Storages {
  readonly #used: Sql[] = [];

  /** One that holds nothing. */
  empty(): Sql {
    const sql = free.pop() ?? sqlOver(new DatabaseSync(":memory:"));
    for (const { name } of sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'")) {
      sql.exec(`DELETE FROM "${name}"`);
    }
    this.#used.push(sql);
    return sql;
  }

  /** The world is over. */
  giveBack(): void {
    free.push(...this.#used.splice(0));
  }
}
