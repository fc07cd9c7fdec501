import type { Notices } from "../../../server/postgres/database.ts";
import type { SharedLog, SharedLogKeeperOptions } from "../../../server/postgres/shared-log-keeper.ts";
import type { ReaderPosition } from "../../../worker/purges/log/log-contract.ts";
import type { SqlPurgeLog } from "../../../worker/purges/log/sql-purge-log.ts";
import type { Stamp } from "../../../worker/rules/storing/stored-response.ts";
import type { Fate } from "../fate.ts";
import { callLate } from "./late-call.ts";

/** A database answers each call after this time or breaks it off: milliseconds. */
const ANSWER_WITHIN_MS = 5000;
/** How long a machine's listening connection is lost. */
const LISTENS_AGAIN_MS = 2000;

/** The log in the database, and whether it can be reached. */
export interface DatabaseServer {
  log(): SqlPurgeLog;
  isSilent(): boolean;
  now(): number;
  /** For so long after a log began in place of another, a machine without a row may be alive: milliseconds. */
  readonly longestUseMs: number;
}

/** A machine's row. */
interface Row {
  confirmed: Stamp | null;
}

/** Which machine calls, and whether it alone cannot reach the database. */
export interface Machine {
  readonly name: string;
  cutOffUntil: number;
}

/**
 * Stands in for the tables of a log that machines share: the real log, with a row for each machine of what it has confirmed.
 * Its notices are late, and connections that carry them are lost.
 */
export class LateDatabase {
  readonly #fate: Fate;
  readonly #server: DatabaseServer;
  readonly #rows = new Map<string, Row>();
  readonly #listeners = new Set<{ hear(payload: string): void; lose(): void }>();
  #beganAt = Number.NEGATIVE_INFINITY;

  constructor(fate: Fate, server: DatabaseServer) {
    this.#fate = fate;
    this.#server = server;
  }

  /** An empty database has taken its place. */
  empty(): void {
    this.#rows.clear();
    this.#beganAt = this.#server.now();
    this.restart();
  }

  /** All connections are lost. */
  restart(): void {
    for (const { lose } of this.#listeners) lose();
  }

  /** The connections that carry notices to one machine. */
  listenedBy(machine: Machine): SharedLogKeeperOptions["database"] {
    let isClosed = false;
    const listen = async (notices: Notices) => {
      while (!isClosed) {
        await this.#fate.onTheWay(120);
        if (isClosed) return;
        if (!this.#isReached(machine)) notices.onLost(new Error("the database cannot be reached") as never);
        else await this.#listenOnce(machine, notices, () => isClosed);
        await this.#fate.delay(LISTENS_AGAIN_MS);
      }
    };
    return {
      listen,
      close: async () => {
        isClosed = true;
      },
    };
  }

  /** The log as one machine's supervisor calls it. */
  calledBy(machine: Machine): SharedLog {
    const call = <T>(work: (log: SqlPurgeLog) => T) => {
      const isSilent = () => !this.#isReached(machine);
      return callLate(this.#fate, { isSilent, work: () => work(this.#server.log()), givenUpMs: ANSWER_WITHIN_MS });
    };
    const { name } = machine;
    return {
      read: (since: ReaderPosition | null, leaseMs, longestViewAgeMs = leaseMs) =>
        call((log) => {
          this.#register(name);
          return log.read(since, leaseMs, longestViewAgeMs);
        }),
      changesSince: (position) => call((log) => log.changesSince(position)),
      append: (purge) =>
        call((log) => {
          this.#register(name);
          const result = log.append(purge);
          this.#notify("");
          return result.kind === "appended" ? { ...result, maySettleSooner: this.#areAllKnown } : result;
        }),
      list: (before, limit) => call((log) => log.list(before, limit)),
      find: (seq) =>
        call((log) => {
          const { logId } = log.head;
          const confirmed = this.#areAllKnown ? this.#confirmedByAll(logId) : 0;
          if (confirmed > 0) log.settleUpTo({ logId, seq: confirmed });
          return log.find(seq);
        }),
      unconfirmed: (position) =>
        call((log) => {
          if (log.head.logId !== position.logId) throw new Error("another log has taken the place of this one");
          const others = [...this.#rows].filter(([other, row]) => other !== name && !hasReached(row, position));
          return new Map(others.map(([other]) => [other, other]));
        }),
      settleUpTo: (position) => call((log) => log.settleUpTo(position)),
      confirm: (position) =>
        call((log) => {
          const row = this.#rows.get(name);
          if (row === undefined || log.head.logId !== position.logId || log.head.seq < position.seq) return false;
          row.confirmed = position;
          this.#notify(JSON.stringify({ machine: name, ...position }));
          return true;
        }),
      nextDueInMs: () => call((log) => log.nextDueInMs()),
      runDue: () =>
        call((log) => {
          log.runDue();
          this.#notify("");
        }),
      beat: () => call(() => undefined),
      leave: () =>
        call(() => {
          this.#rows.delete(name);
        }),
    };
  }

  /** In a log that has replaced another, the row of a machine that reads that other one may be missing. */
  get #areAllKnown(): boolean {
    return this.#server.now() >= this.#beganAt + this.#server.longestUseMs;
  }

  #register(name: string): void {
    if (!this.#rows.has(name)) this.#rows.set(name, { confirmed: null });
  }

  #confirmedByAll(logId: string): number {
    return Math.min(
      ...[...this.#rows.values()].map(({ confirmed }) => (confirmed?.logId === logId ? confirmed.seq : 0)),
    );
  }

  #isReached({ cutOffUntil }: Machine): boolean {
    return !this.#server.isSilent() && this.#server.now() >= cutOffUntil;
  }

  #notify(payload: string): void {
    for (const { hear } of this.#listeners) hear(payload);
  }

  /** Resolves when this connection is lost. */
  async #listenOnce(machine: Machine, notices: Notices, isClosed: () => boolean): Promise<void> {
    const fate = this.#fate;
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
    let isLost = false;
    // Notices of one connection come in their order.
    let line = Promise.resolve();
    const hear = (payload: string) => {
      line = line.then(async () => {
        if (isLost) return;
        await fate.onTheWay(fate.pick([50, 50, 50, 600]));
        if (!this.#isReached(machine) || fate.happens("lost notices of the database", 0.05)) lose();
        else if (!isLost && !isClosed()) notices.onNotice(payload);
      });
    };
    const listener = { hear, lose };
    this.#listeners.add(listener);
    notices.onListening();
    await lost;
    isLost = true;
    this.#listeners.delete(listener);
    if (!isClosed()) notices.onLost(new Error("the connection was lost") as never);
  }
}

function hasReached({ confirmed }: Row, { logId, seq }: Stamp): boolean {
  return confirmed?.logId === logId && confirmed.seq >= seq;
}
