import type { Clock } from "../../ports/clock.ts";
import type { PurgeRecord } from "../../ports/purge-log.ts";
import type { Stamp } from "../../rules/storing/stored-response.ts";
import { HeldAnswers } from "./held-answers.ts";
import type { ConnectingReader, ReaderPosition, ViewDelta } from "./log-contract.ts";
import type { SqlPurgeLog } from "./sql-purge-log.ts";

/**
 * The most connections. A purge is sent over each by itself, which takes up to 0.1 ms (docs/scale.md), and each reader
 * renews its lease by itself.
 */
export const MAX_CONNECTIONS = 1000;

/**
 * From this many bytes on, in pushes that a reader has not answered, it is sent no more. Its next answer brings on one
 * push with all purges since. A push without keys takes about 400 bytes, and one with the keys of a purge at most 120 KB
 * more.
 */
const MAX_UNANSWERED_BYTES = 8192;
const EMPTY_PUSH_BYTES = 400;

/**
 * Each reader is sent a copy of its own, and an object has 128 MB. So pushes larger than `MAX_UNANSWERED_BYTES` are sent
 * only while those under way have fewer bytes than this. The other readers wait for answers, or come and read.
 */
const MAX_LARGE_BYTES = 16 * 1024 * 1024;
/** A reader that has not answered a large push by then is sent none before it renews. Others need not wait for it. */
const LARGE_WITHIN_MS = 1000;

/** Sends purges to one reader. Resolves to whether its view has reached them; rejects if the reader cannot be reached. */
export type Push = (delta: ViewDelta) => Promise<boolean>;

/** One reader's connection. */
export interface Connection {
  readonly reader: string;
  readonly push: Push;
  /** The number that its view has reached, as far as is known; until it has said so, the number that was sent to it. */
  position: Stamp | null;
  /** Up to where it has been sent purges. */
  sent: Stamp | null;
  /** The bytes of the pushes that it has not answered. */
  unansweredBytes: number;
}

/** A reader as it asks for a connection, without the function that takes in purges. */
export type Connecting = Omit<ConnectingReader, "learn">;

/** A connection with the reply to its first read. */
export interface OpenedConnection {
  readonly first: ViewDelta;
  readonly connection: Connection;
}

/**
 * The log with the readers that keep a connection to it (R26): it sends them each purge at once, and settles it when they
 * have confirmed it. A connection proves nothing about a reader; its leases are in the log's book (R25).
 */
export class ConnectedLog {
  readonly #log: SqlPurgeLog;
  readonly #held: HeldAnswers;
  readonly #clock: Clock;
  readonly #maxConnections: number;
  readonly #connections = new Set<Connection>();
  /** The bytes of large pushes under way, and whether a reader waits for there to be fewer. */
  #largeBytes = 0;
  #isHeldBack = false;

  constructor(log: SqlPurgeLog, clock: Clock, maxConnections = MAX_CONNECTIONS) {
    this.#maxConnections = maxConnections;
    this.#log = log;
    this.#clock = clock;
    this.#held = new HeldAnswers(log, clock);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** `null` if there are too many. The reader then goes without a name, and shares its reads (R22). */
  connect(reader: string, push: Push): Connection | null {
    if (this.#connections.size >= this.#maxConnections) return null;
    const connection: Connection = { reader, push, position: null, sent: null, unansweredBytes: 0 };
    this.#connections.add(connection);
    return connection;
  }

  /** Connects a reader, and answers its first read. `null` if there are too many connections. */
  open({ name, since, leaseMs, longestViewAgeMs }: Connecting, push: Push): OpenedConnection | null {
    const connection = this.connect(name, push);
    if (connection === null) return null;
    try {
      return { first: this.renew(connection, since, leaseMs, longestViewAgeMs), connection };
    } catch (error) {
      this.disconnect(connection); // or it would count as open for as long as nobody purges
      throw error;
    }
  }

  disconnect(connection: Connection): void {
    this.#connections.delete(connection);
  }

  /** Answers a reader that renews its lease. Its own position confirms what its view has reached. */
  renew(connection: Connection, since: ReaderPosition | null, leaseMs: number, longestViewAgeMs: number): ViewDelta {
    const { reader } = connection;
    this.#connections.add(connection); // a push may have failed, but here is its reader
    if (since !== null) this.#confirm(connection, since);
    const reply = this.#log.read(since, leaseMs, longestViewAgeMs, reader, connection);
    connection.position ??= { logId: reply.logId, seq: reply.to };
    connection.sent ??= connection.position;
    return reply;
  }

  /** The reader has given up its leases, because it has no more requests. */
  release(connection: Connection): void {
    if (this.#log.leave(connection.reader, connection)) this.#held.noteSettled();
  }

  /** Sends every connected reader what it may lack. */
  push(): void {
    const { head } = this.#log;
    const deltas = new Map<string, ViewDelta>();
    for (const connection of this.#connections) void this.#pushTo(connection, head, deltas);
  }

  /** One purge by its number. If it has not settled, waits until it has, and at most for `waitMs`. */
  find(seq: number, waitMs: number): Promise<PurgeRecord | null> {
    return this.#held.find(seq, waitMs);
  }

  async #pushTo(connection: Connection, head: Stamp, deltas = new Map<string, ViewDelta>()): Promise<void> {
    const { position, sent } = connection;
    if (position === null || (sent?.logId === head.logId && sent.seq === head.seq)) return;
    if (connection.unansweredBytes >= MAX_UNANSWERED_BYTES) return;
    const key = `${position.logId} ${position.seq}`;
    const delta = deltas.get(key) ?? this.#log.changesSince(position);
    deltas.set(key, delta);
    const bytes = EMPTY_PUSH_BYTES + delta.items.byteLength;
    const isLarge = bytes > MAX_UNANSWERED_BYTES;
    if (isLarge && this.#largeBytes >= MAX_LARGE_BYTES) {
      this.#isHeldBack = true;
      return;
    }
    connection.sent = head;
    connection.unansweredBytes += bytes;
    const noteAnswered = isLarge ? this.#noteLarge(connection, bytes) : null;
    const hasReached = await connection.push(delta).catch(() => null);
    noteAnswered?.();
    connection.unansweredBytes -= bytes;
    if (hasReached === null) return this.disconnect(connection);
    if (hasReached) this.#confirm(connection, { logId: delta.logId, seq: delta.to });
    return this.#pushTo(connection, this.#log.head);
  }

  /** Counts a large push. Returns a function that says that it has been answered. */
  #noteLarge(connection: Connection, bytes: number): () => void {
    const wait = this.#clock.wait(LARGE_WITHIN_MS);
    let leftBytes = bytes;
    const forget = () => {
      this.#largeBytes -= leftBytes;
      leftBytes = 0;
      // Many at a time, because those that stand at the same number share the reading of what they lack.
      if (!this.#isHeldBack || this.#largeBytes > MAX_LARGE_BYTES / 2) return;
      this.#isHeldBack = false;
      this.push();
    };
    this.#largeBytes += bytes;
    void wait.over.then(() => {
      this.disconnect(connection);
      forget();
    });
    return () => {
      wait.cancel();
      forget();
    };
  }

  #confirm(connection: Connection, { logId, seq }: Stamp): void {
    const { reader, position } = connection;
    if (position?.logId !== logId || position.seq < seq) connection.position = { logId, seq };
    if (this.#log.confirm(reader, { logId, seq })) this.#held.noteSettled();
  }
}
