import type pg from "pg";
import { ownPackage } from "../../package/own-package.ts";
import { Turns } from "../../package/turns.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import { BUSY, leftWaiting, SharedLogError, sharedLogError, TOO_MANY_CONNECTIONS } from "./database-error.ts";
import { withoutPassword } from "./log-address.ts";
import { CHANNEL } from "./schema.ts";

/** The most connections of one machine, beside the one that listens. */
const MAX_CONNECTIONS = 4;
/** Statements that wait for each other leave the other connections to reads. */
const MAX_IN_TURN = MAX_CONNECTIONS - 2;

/** Bounds in milliseconds. The database ends what a machine that is cut off has begun, so that it holds no lock. */
const CONNECT_WITHIN_MS = 2000;
const STATEMENT_WITHIN_MS = 4000;
const LOCK_WITHIN_MS = 3000;
const ANSWER_WITHIN_MS = 5000;
/** Whoever asks for a purge waits for 10 s, and its statement may take all the time above. */
const TURN_WITHIN_MS = 3000;
/** A listening connection on which nothing comes looks the same as a lost one, so it is asked this often. */
const PING_EVERY_MS = 2000;

/** After a connection has failed, the next attempt waits this long at first and at most, less a random part. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2000;

export interface DatabaseOptions {
  readonly url: string;
  readonly clock: Clock & { elapsed(): number };
  readonly random: () => number;
}

export interface Notices {
  /** Notices arrive from now on. Some may have been missed before. */
  onListening(): void;
  onNotice(payload: string): void;
  onLost(cause: SharedLogError): void;
}

/**
 * How long a machine makes do with the connections that it has, after it was refused another one, or a pooler let it wait
 * for this time. The query that asked for it can then still take one of them. Milliseconds.
 */
const CONTENT_FOR_MS = 10_000;
const CONTENT_AFTER_MS = 1000;

/**
 * What a connection begins with. Two purges at once wait for each other, and the second must then see the first, whatever
 * the default of the database is. Reads of tables of which the planner knows nothing yet would be compiled, each for a second.
 * A purge that was acknowledged, and a machine that has read, must survive a crash of the database, whatever else its owner
 * puts up with. These are no parameters of the connection, because poolers refuse or ignore such ones.
 */
const SETTINGS = `SET default_transaction_isolation = 'read committed'; SET jit = off; SET statement_timeout = ${STATEMENT_WITHIN_MS};
  SET lock_timeout = ${LOCK_WITHIN_MS}; SET idle_in_transaction_session_timeout = ${LOCK_WITHIN_MS};
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;

/** A connection was given up, for another one or for good. */
const GIVEN_UP = new Error("the connection was given up");

/** What the types of `pg` leave out. */
interface Unreferenced {
  /** As of a socket. */
  unref(): void;
}

/** PostgreSQL's code for a write on a standby. */
export const IS_STANDBY = "25006";

/** What `pg` says, without a code, if nothing has come although the database ends what takes longer. */
const NO_ANSWER = "Query read timeout";

/** Numbers of 64 bits that are counts and instants, which stay far below 2 to the power of 53. */
const INT8 = 20;

/** Connections to PostgreSQL that are renewed by themselves, with pauses that grow while none can be made. */
export class Database {
  /** The server and its database, for messages. */
  readonly where: string;
  readonly #options: DatabaseOptions;
  readonly #driver: typeof pg;
  readonly #Client: typeof pg.Client;
  readonly #settings: pg.ClientConfig;
  /**
   * Of statements that lock the log's row until their commit. They would wait for each other in the database anyway, and hold
   * all connections meanwhile.
   */
  readonly turns: Turns = new Turns(MAX_IN_TURN);
  #pool: pg.Pool;
  /** The connections of the pool that have answered. */
  readonly #open = new Set<pg.PoolClient>();
  #failures = 0;
  #contentUntil = Number.NEGATIVE_INFINITY;
  #tryAt = Number.NEGATIVE_INFINITY;
  #lastFailure: SharedLogError | null = null;
  /** Of the connection that listens. */
  #loss: Loss | null = null;
  #isClosed = false;
  #wait: { cancel(): void } | null = null;

  private constructor(driver: typeof pg, options: DatabaseOptions) {
    this.#driver = driver;
    this.#Client = closedWhenFailed(driver);
    this.#options = options;
    this.where = withoutPassword(options.url);
    this.#settings = {
      connectionString: options.url,
      application_name: "tidemark serve",
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      types: {
        getTypeParser: ((oid: number, format?: "text") =>
          oid === INT8 ? Number : driver.types.getTypeParser(oid, format)) as never,
      },
    };
    this.#pool = this.#newPool();
  }

  /** Rejects, with the command that installs it, if the package `pg` is missing, or if a file that the address names is. */
  static async over(options: DatabaseOptions): Promise<Database> {
    const database = new Database(await driver(withoutPassword(options.url)), options);
    try {
      new database.#driver.Client(database.#settings); // which reads the files
    } catch (cause) {
      throw sharedLogError(database.where, cause);
    }
    return database;
  }

  /** Rejects with a `SharedLogError`: at once if a connection has just failed, so that callers do not queue up. */
  query<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return this.#tryQuery(text, values, MAX_CONNECTIONS);
  }

  /** Takes a turn. Rejects with a `SharedLogError`, also if its turn comes too late. */
  queryInTurn<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const isInTime = this.beginsToWait();
    return this.turns.take(() => {
      if (!isInTime()) throw this.busy;
      return this.query(text, values);
    });
  }

  /** A statement waits for its turn from now on. The result tells, when its turn comes, whether its caller still waits. */
  beginsToWait(): () => boolean {
    const { clock } = this.#options;
    const startBy = clock.elapsed() + TURN_WITHIN_MS;
    return () => clock.elapsed() <= startBy;
  }

  /** What a statement fails with whose turn has come too late. */
  get busy(): SharedLogError {
    return new SharedLogError(this.where, BUSY, "passing");
  }

  /** Makes new connections from now on, because those that are open lead to a server that is not the primary. */
  forgetConnections(): void {
    if (this.#isClosed) return;
    const old = this.#pool;
    this.#open.clear();
    this.#pool = this.#newPool();
    void old.end().catch(() => undefined);
    this.#loss?.tell(GIVEN_UP);
  }

  /** Runs several statements in one transaction. */
  async transaction(work: (query: <Row = unknown>(text: string) => Promise<Row[]>) => Promise<void>): Promise<void> {
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw sharedLogError(this.where, cause);
    });
    try {
      await client.query("BEGIN");
      await work(async (text) => (await client.query(text)).rows ?? []);
      await client.query("COMMIT");
      client.release();
    } catch (cause) {
      client.release(true); // the database rolls back what its connection leaves behind
      throw sharedLogError(this.where, cause);
    }
  }

  /** Listens until `close`. A lost connection is renewed. */
  async listen(notices: Notices): Promise<void> {
    const { clock, random } = this.#options;
    for (let failures = 0; !this.#isClosed; ) {
      try {
        await this.#listenOnce(notices, () => {
          failures = 0;
        });
      } catch (cause) {
        if (!this.#isClosed && cause !== GIVEN_UP) notices.onLost(sharedLogError(this.where, cause));
      }
      if (!this.#isClosed) await this.#pause(clock.wait(pauseMs(failures++, random())));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wait?.cancel();
    this.#loss?.tell(GIVEN_UP);
    await this.#pool.end().catch(() => undefined);
  }

  #newPool(): pg.Pool {
    const verify = (client: pg.PoolClient, done: (cause?: Error) => void) => {
      client.on("error", () => undefined); // the statement fails as well, and nobody else listens yet
      const first = { text: SETTINGS, query_timeout: this.#open.size > 0 ? CONTENT_AFTER_MS : ANSWER_WITHIN_MS };
      const onAnswer = () => {
        if (pool === this.#pool) this.#open.add(client);
        done();
      };
      client.query(first).then(onAnswer, (cause: Error) => {
        const error = cause.message === NO_ANSWER ? leftWaiting(this.where, cause) : cause;
        this.#makesDo(error); // the query may have given up by now
        done(error);
      });
    };
    const settings = { ...this.#settings, max: MAX_CONNECTIONS, verify, allowExitOnIdle: true };
    const pool = new this.#driver.Pool({ ...settings, Client: this.#Client });
    pool.on("remove", (client) => this.#open.delete(client));
    pool.on("error", () => undefined); // an idle connection was lost, and the next query makes another one
    return pool;
  }

  async #tryQuery<T>(text: string, values: readonly unknown[], tries: number): Promise<T[]> {
    const { clock, random } = this.#options;
    if (this.#lastFailure && clock.elapsed() < this.#tryAt) throw this.#lastFailure;
    const pool = this.#pool;
    if (clock.elapsed() >= this.#contentUntil) pool.options.max = MAX_CONNECTIONS;
    try {
      const { rows } = await pool.query(text, [...values]);
      this.#failures = 0;
      this.#lastFailure = null;
      return rows as T[];
    } catch (cause) {
      if (this.#makesDo(cause) && tries > 1) return this.#tryQuery(text, values, tries - 1);
      if (leadsElsewhere(cause) && pool === this.#pool) this.forgetConnections();
      const error = sharedLogError(this.where, cause);
      if (error.kind !== "passing") {
        this.#lastFailure = error;
        const now = clock.elapsed();
        if (now >= this.#tryAt) this.#tryAt = now + pauseMs(this.#failures++, random());
      }
      throw error;
    }
  }

  /** Whether the cause is that no more connections are to be had, so that queries wait for one of those that are open. */
  #makesDo(cause: unknown): boolean {
    const { code } = cause as { code?: unknown };
    if (code !== TOO_MANY_CONNECTIONS || this.#open.size === 0) return false;
    this.#pool.options.max = this.#open.size;
    this.#contentUntil = this.#options.clock.elapsed() + CONTENT_FOR_MS;
    return true;
  }

  async #listenOnce({ onListening, onNotice }: Notices, onConnected: () => void): Promise<void> {
    const client = new this.#Client(this.#settings) as pg.Client & Unreferenced;
    const loss = new Loss();
    client.on("error", (cause) => loss.tell(cause));
    client.on("end", () => loss.tell(new Error("the connection has ended")));
    client.on("notification", ({ payload = "" }) => onNotice(payload));
    this.#loss = loss;
    try {
      await loss.before(client.connect());
      await loss.before(client.query(`LISTEN ${CHANNEL}`));
      onConnected();
      onListening();
      while (!this.#isClosed) {
        const wait = this.#options.clock.wait(PING_EVERY_MS);
        await loss.before(this.#pause(wait)).finally(() => wait.cancel());
        if (!this.#isClosed) await loss.before(client.query("SELECT 1"));
      }
    } finally {
      this.#loss = null;
      client.unref(); // a database that is silent does not end it, and must not keep the process
      void client.end().catch(() => undefined);
    }
  }

  /** Waits, but not beyond `close`. */
  async #pause(wait: { readonly over: Promise<void>; cancel(): void }): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#wait = {
      cancel: () => {
        wait.cancel();
        closed.resolve();
      },
    };
    await Promise.race([wait.over, closed.promise]);
  }
}

/**
 * The loss of a connection, which ends what is waited for. A race against one promise would hold every answer for as long
 * as the connection lasts.
 */
class Loss {
  #cause: Error | null = null;
  #end: (cause: Error) => void = () => undefined;

  tell(cause: Error): void {
    this.#cause ??= cause;
    this.#end(this.#cause);
  }

  /** Waits for work, one at a time. Rejects if the connection is lost before it is done. */
  before<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#end = reject;
    if (this.#cause) reject(this.#cause);
    work.then(resolve, reject);
    return promise;
  }
}

/**
 * Connections that are closed when they fail. `pg` leaves one open that it cannot go on with, as without a password, and
 * PostgreSQL counts it for a minute.
 */
function closedWhenFailed(driver: typeof pg): typeof pg.Client {
  return class extends driver.Client {
    constructor(settings?: string | pg.ClientConfig) {
      super(settings);
      this.connection.on("error", () => this.connection.stream.destroy());
    }
  };
}

/** Whether the address of the database may lead to another server than a connection that failed. */
function leadsElsewhere(cause: unknown): boolean {
  const { code, message } = cause as { code?: unknown; message?: unknown };
  return code === IS_STANDBY || message === NO_ANSWER;
}

/** Doubles from the first pause to the last. Machines that have lost the database together do not come back together. */
export function pauseMs(failures: number, random: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LAST_PAUSE_MS) * (0.5 + random / 2);
}

async function driver(where: string): Promise<typeof pg> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    const install = `npm install pg@${ownPackage.devDependencies.pg}`;
    throw new SharedLogError(
      where,
      `it needs a package that is not installed here. Install it with: ${install}`,
      "lasting",
      cause,
    );
  }
}
