import type { Clock } from "../../ports/clock.ts";
import type { PurgeRecord } from "../../ports/purge-log.ts";
import { within } from "../../within.ts";
import {
  ConnectedLog,
  type Connecting,
  type Connection,
  type OpenedConnection,
  type Push,
} from "../log/connected-log.ts";
import {
  type LogConnection,
  type PurgeLogClient,
  RELAY_AGE_MS,
  type ReaderPosition,
  type ViewDelta,
} from "../log/log-contract.ts";
import type { SqlPurgeLog } from "../log/sql-purge-log.ts";
import { unreadAfter } from "../view/unread-range.ts";
import { FollowedLog } from "./followed-log.ts";

/** How often a relay with readers reads the log: well within `RELAY_AGE_MS`, with a slow round trip. */
const READ_EVERY_MS = RELAY_AGE_MS / 4;

const NEVER = Number.NEGATIVE_INFINITY;

/** What a reader asks for, and what a relay has named to the log. */
type Asked = Pick<Connecting, "leaseMs" | "longestViewAgeMs">;

const NOTHING: Asked = { leaseMs: 0, longestViewAgeMs: 0 };

/** The log as a relay reads it: over a connection, and without one as long as it has not read everything. */
export type RelayedLog = Required<Pick<PurgeLogClient, "connect" | "read">>;

/**
 * A relay of the log for the readers of a region (R27). It reads the log as a reader does, over a connection and under a
 * name of its own, grants leases from its copy, and confirms a purge when its own readers have.
 */
export class Relay {
  readonly #root: RelayedLog;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #followed: FollowedLog;
  readonly #connected: ConnectedLog<Pick<PurgeRecord, "settled">>;
  /** Connections whose renewals may still be under way. */
  readonly #closed = new WeakSet<Connection>();
  #connection: LogConnection | null = null;
  #reading: Promise<void> | null = null;
  #readsBegun = 0;
  /** The place among the reads, and the start, of the read by which it answers. */
  #readBy = 0;
  #readAt = NEVER;
  /** The most that any reader has asked for since there were none, and what the log has been told of that. */
  #asked = NOTHING;
  #named = NOTHING;
  #skewMs = 0;
  #isKept = false;

  constructor(copy: SqlPurgeLog, root: RelayedLog, clock: Clock, random: () => number, rememberedMs?: number) {
    this.#root = root;
    this.#clock = clock;
    // Each instance has its own, because it knows nothing of the leases of another.
    this.#name = `relay ${random()}`;
    this.#followed = new FollowedLog(copy, () => clock.now(), rememberedMs);
    this.#connected = new ConnectedLog(this.#followed, clock);
  }

  /** Connects a reader, and answers its first read. `null` if there are too many connections. */
  open(reader: Connecting, push: Push): Promise<OpenedConnection | null> {
    this.#skewMs = Math.max(this.#skewMs, reader.skewMs);
    return this.#answer(reader.since, reader, () => this.#connected.open(reader, push));
  }

  renew(
    connection: Connection,
    since: ReaderPosition | null,
    leaseMs: number,
    longestViewAgeMs: number,
  ): Promise<ViewDelta> {
    return this.#answer(since, { leaseMs, longestViewAgeMs }, () => {
      if (this.#closed.has(connection)) throw new Error("the connection has been closed");
      return this.#connected.renew(connection, since, leaseMs, longestViewAgeMs);
    });
  }

  release(connection: Connection): void {
    this.#connected.release(connection);
  }

  disconnect(connection: Connection): void {
    this.#closed.add(connection);
    this.#connected.disconnect(connection);
  }

  /** Answers as soon as it knows the log well enough, in one step with the check. Rejects if it does not get there. */
  async #answer<T>(since: ReaderPosition | null, asked: Asked, answer: () => T): Promise<T> {
    // A reader of another log may have met a newer one, so that only a read from now on tells which of them lives (R11).
    const isOfAnotherLog = since !== null && since.logId !== this.#followed.head.logId;
    const readFrom = isOfAnotherLog ? this.#readsBegun + 1 : 1;
    try {
      for (let tries = 0; !this.#mayAnswer(asked, readFrom); tries++) {
        if (tries === 3) throw new Error("the relay does not reach the log");
        this.#asked = largest(this.#asked, asked);
        await this.#read();
      }
      return answer();
    } finally {
      void this.#keep();
    }
  }

  /** The log counts with a lease that is granted now, if it ends as late as one that is granted this time after a read. */
  #mayAnswer({ leaseMs, longestViewAgeMs }: Asked, readFrom: number): boolean {
    const ageMs = this.#clock.now() - this.#readAt;
    const isYoung = ageMs >= 0 && ageMs <= RELAY_AGE_MS && this.#readBy >= readFrom;
    return isYoung && leaseMs <= this.#named.leaseMs && longestViewAgeMs <= this.#named.longestViewAgeMs;
  }

  /** Joins the read of the log in progress, or begins one. Never rejects. */
  #read(): Promise<void> {
    this.#reading ??= this.#readRoot()
      .catch(() => {
        this.#connection?.close();
        this.#connection = null;
      })
      .finally(() => {
        this.#reading = null;
      });
    return this.#reading;
  }

  async #readRoot(): Promise<void> {
    const number = ++this.#readsBegun;
    const asked = this.#asked;
    const { leaseMs, longestViewAgeMs } = asked;
    // Its position says what is confirmed below, so that purges are sent again until they are.
    const since = this.#followed.confirmed;
    const reached = this.#followed.head;
    const read = (position: ReaderPosition | null) =>
      this.#soon(this.#root.read(position, leaseMs, longestViewAgeMs, undefined, this.#name));
    let startedAt = this.#clock.now();
    let delta = await this.#soon(this.#connection?.renew(since, leaseMs, longestViewAgeMs) ?? this.#open(since, asked));
    // Storage of the log went back in time, which the log notices only if it is told of a higher number (R13).
    if (delta.logId === reached.logId && delta.to < reached.seq) delta = await read(reached);
    const { head } = this.#followed;
    const seq = delta.logId === head.logId ? head.seq : 0;
    if (delta.from > seq) throw new Error("the reply leaves a gap");
    // A part of the purges would pass for all of them, so none is taken in before the last one is there (R12).
    const parts: ViewDelta[] = [];
    for (let unread = unreadAfter(null, seq, delta); unread !== null; ) {
      parts.push({ ...delta, to: seq });
      startedAt = this.#clock.now();
      const position = { logId: delta.logId, seq: delta.to, unread };
      const more = await read(position);
      if (more.logId !== delta.logId) throw new Error("the log has changed");
      unread = unreadAfter(unread, delta.to, more);
      delta = more;
    }
    for (const part of parts) this.#follow(part);
    if (this.#follow(delta)) void this.#tellWhenConfirmed(delta);
    [this.#readBy, this.#readAt, this.#named] = [number, startedAt, asked];
  }

  async #open(since: ReaderPosition | null, asked: Asked): Promise<ViewDelta> {
    const learn = (delta: ViewDelta) => this.#learn(delta);
    const number = this.#readsBegun;
    const connection = await this.#root.connect({ name: this.#name, since, ...asked, skewMs: this.#skewMs, learn });
    if (connection === null) throw new Error("the log has too many connections");
    if (number !== this.#readsBegun || this.#reading === null) {
      connection.close(); // it comes too late
      throw new Error("too late");
    }
    this.#connection = connection;
    return connection.first;
  }

  /** Takes in a purge that the log has sent. Resolves to whether all readers of the relay have reached it, if soon. */
  async #learn(delta: ViewDelta): Promise<boolean> {
    const { logId, seq } = this.#followed.head;
    if (delta.logId !== logId || Math.max(delta.from, delta.truncatedAt) > seq) {
      await this.#readForReaders();
      return false;
    }
    this.#follow(delta);
    return this.#isConfirmed(delta);
  }

  #follow(delta: ViewDelta): boolean {
    const hasNews = this.#followed.follow(delta, this.#asked.longestViewAgeMs, this.#skewMs);
    if (hasNews) this.#connected.push();
    return hasNews;
  }

  /** Reads the log again once all readers have reached a purge, because its position tells that. */
  async #tellWhenConfirmed(delta: ViewDelta): Promise<void> {
    if (await this.#isConfirmed(delta)) await this.#readForReaders();
  }

  /** Reads the log unless no reader is left: nobody would then give up the lease, and close the connection. */
  async #readForReaders(): Promise<void> {
    if (this.#isKept) await this.#read();
  }

  /** False if another log has taken the place of the purge's own meanwhile, whose numbers say nothing of it (R13). */
  async #isConfirmed({ logId, to }: ViewDelta): Promise<boolean> {
    const found = await this.#connected.find(to, RELAY_AGE_MS);
    return found?.settled === true && this.#followed.confirmed?.logId === logId;
  }

  /** Reads the log for as long as there are readers, and then gives up its name's lease. */
  async #keep(): Promise<void> {
    if (this.#isKept) return;
    this.#isKept = true;
    while (this.#reading || this.#connected.size > 0 || this.#followed.hasReaders) {
      await this.#clock.wait(READ_EVERY_MS).over;
      await this.#read();
    }
    this.#isKept = false;
    // The log would not know of what the relay grants from here on.
    this.#readAt = NEVER;
    this.#asked = NOTHING;
    const connection = this.#connection;
    this.#connection = null;
    await this.#soon(connection?.release() ?? Promise.resolve()).catch(() => undefined);
    connection?.close();
  }

  #soon<T>(answer: Promise<T>): Promise<T> {
    return within(this.#clock, RELAY_AGE_MS, answer, () => Promise.reject(new Error("the log does not answer")));
  }
}

function largest(one: Asked, other: Asked): Asked {
  return {
    leaseMs: Math.max(one.leaseMs, other.leaseMs),
    longestViewAgeMs: Math.max(one.longestViewAgeMs, other.longestViewAgeMs),
  };
}
