import { Database } from "../../../server/postgres/database.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { type PostgresServer, startPostgres } from "../../sdk/outbox/postgres-server.ts";
import { emptyDatabase } from "../../server/postgres/empty-database.ts";

/** The tables of the log with the rows of a new one, which has another id. */
const NEW_LOG = `
  TRUNCATE tidemark_log, tidemark_log_restore, tidemark_log_keys, tidemark_log_audit, tidemark_log_ids,
    tidemark_log_repeats, tidemark_log_machines RESTART IDENTITY;
  INSERT INTO tidemark_log DEFAULT VALUES;
  INSERT INTO tidemark_log_restore DEFAULT VALUES;
`;

/** One database for the logs of all tests, one after another: to make tables and connections takes longer than most tests. */
export class OneDatabase {
  #server: PostgresServer | undefined;
  #database: Database | undefined;

  /** Connections, which nobody has to close, to a database in which the log is a new one. */
  async withNewLog(): Promise<Database> {
    if (this.#database) await this.#database.transaction(async (query) => void (await query(NEW_LOG)));
    this.#database ??= await this.#connected();
    return this.#database;
  }

  /** Connections to a database without a log. */
  async withoutLog(): Promise<Database> {
    await this.#database?.close();
    this.#database = undefined;
    return this.#connected();
  }

  async #connected(): Promise<Database> {
    this.#server ??= await startPostgres();
    return Database.over({ url: await emptyDatabase(this.#server), clock: systemClock, random: Math.random });
  }

  async stop(): Promise<void> {
    await this.#database?.close();
    await this.#server?.stop();
  }
}
