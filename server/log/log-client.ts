import { connect, Socket } from "node:net";
import type { UnseenKey } from "../../worker/metrics/unseen-key.ts";
import type { Clock } from "../../worker/ports/clock.ts";
import type { PurgeRecord, PurgeRecordPage } from "../../worker/ports/purge-log.ts";
import type { AppendRequest, AppendResult, ReaderPosition, ViewDelta } from "../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { within } from "../../worker/within.ts";
import { FrameReader, writeFrame } from "./frames.ts";
import type { Call, FromWorker, LogCalls } from "./log-messages.ts";

/**
 * A call without an answer counts as failed after this many milliseconds. The log may have accepted a purge all the
 * same.
 */
const CALL_WITHIN_MS = 10_000;

/** After its connection was lost, a worker tries again at once, and then after these times. Milliseconds. */
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 1000;

export interface LogClientOptions {
  readonly socketPath: string;
  /** The name by which the supervisor expects this worker. */
  readonly name: string;
  readonly clock: Clock;
  /** Called before each connection, of which there is none if it throws. */
  readonly enter?: () => void;
}

/** A connection, and the calls that wait for their answers on it. */
interface Connection {
  readonly socket: Socket;
  readonly calls: Map<number, PromiseWithResolvers<unknown>>;
}

/**
 * A worker's client of the log. A call rejects if the supervisor cannot be reached. The client reconnects by itself, so
 * that pushes arrive again.
 */
export class SupervisedLog implements LogCalls {
  readonly #options: LogClientOptions;
  #learn: (delta: ViewDelta) => Promise<boolean> = async () => false;
  #connection: Promise<Connection> | null = null;
  #confirmed: Stamp | null = null;
  #calls = 0;
  #retryMs = 0;
  #isClosed = false;
  /** While it is set, calls wait, because the log moves from one process to another. */
  #held: PromiseWithResolvers<void> | null = null;
  /** How often calls were held back. */
  #holds = 0;
  #underWay = 0;
  #onceQuiet: (() => void)[] = [];

  constructor(options: LogClientOptions) {
    this.#options = options;
  }

  /**
   * Begins to receive pushes. `learn` resolves to whether the view has reached the pushed purges; if so, the client
   * confirms them.
   */
  learnBy(learn: (delta: ViewDelta) => Promise<boolean>): void {
    this.#learn = learn;
    void this.#connected().catch(() => undefined); // the client tries again by itself
  }

  read(since: ReaderPosition | null, leaseMs: number, longestViewAgeMs?: number, report?: string): Promise<ViewDelta> {
    return this.#call("read", since, leaseMs, longestViewAgeMs ?? leaseMs, ...(report === undefined ? [] : [report]));
  }

  report(report: string): Promise<void> {
    return this.#call("report", report);
  }

  readLedger(lastMs: number | null, pop: string | null): Promise<string> {
    return this.#call("readLedger", lastMs, pop);
  }

  findUnseen(keys: readonly string[]): Promise<readonly UnseenKey[]> {
    return this.#call("findUnseen", keys);
  }

  append(purge: AppendRequest): Promise<AppendResult> {
    return this.#call("append", purge);
  }

  list(before: number | null, limit: number): Promise<PurgeRecordPage> {
    return this.#call("list", before, limit);
  }

  find(seq: number, waitMs = 0): Promise<PurgeRecord | null> {
    return waitMs > 0 ? this.#findWithin(waitMs, seq) : this.#call("find", seq, 0);
  }

  /** Holds back new calls until `resume`. Resolves when the current calls have ended. */
  async hold(): Promise<void> {
    this.#held ??= Promise.withResolvers();
    this.#holds++;
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#onceQuiet.push(resolve));
  }

  /** The log can be reached again, at the same socket. */
  resume(): void {
    this.#retryMs = 0;
    this.#held?.resolve();
    this.#held = null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.resume(); // calls that wait fail
    const connection = await this.#connection?.catch(() => null);
    connection?.socket.destroy();
  }

  async #call<T>(call: Call, ...parameters: readonly unknown[]): Promise<T> {
    while (this.#held !== null) await this.#held.promise;
    this.#underWay++;
    try {
      return await this.#callNow<T>(CALL_WITHIN_MS, call, parameters);
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) for (const tell of this.#onceQuiet.splice(0)) tell();
    }
  }

  /** A long-held answer does not delay the move of the log. The next process is then asked again at once. */
  async #findWithin(waitMs: number, seq: number): Promise<PurgeRecord | null> {
    while (this.#held !== null) await this.#held.promise;
    const holds = this.#holds;
    try {
      return await this.#callNow(CALL_WITHIN_MS + waitMs, "find", [seq, waitMs]);
    } catch (cause) {
      if (this.#holds === holds) throw cause;
      return this.find(seq);
    }
  }

  async #callNow<T>(ms: number, call: Call, parameters: readonly unknown[]): Promise<T> {
    const { socket, calls } = await this.#connected();
    const number = ++this.#calls;
    const answer = Promise.withResolvers<unknown>();
    calls.set(number, answer);
    send(socket, { number, call, parameters });
    const late = () => Promise.reject(new Error("the purge log does not answer"));
    return within(this.#options.clock, ms, answer.promise as Promise<T>, late).finally(() => calls.delete(number));
  }

  /** The connection, or the attempt to make one. */
  #connected(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(new Error("this worker left the purge log, because it is stopping"));
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  #connect(): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const { name } = this.#options;
    const connection: Connection = { socket: this.#dial(), calls: new Map() };
    const { socket, calls } = connection;
    const frames = new FrameReader((message) => this.#take(message, connection));
    let cause: Error | null = null;
    socket.on("connect", () => {
      this.#retryMs = 0;
      send(socket, { hello: name, position: this.#confirmed });
      resolve(connection);
    });
    socket.on("data", (piece) => {
      try {
        frames.read(piece as Buffer);
      } catch (broken) {
        socket.destroy(broken as Error);
      }
    });
    socket.on("error", (error) => {
      cause = error;
    });
    socket.on("close", () => {
      const lost = new Error("the purge log cannot be reached", { cause });
      this.#connection = null;
      for (const { reject: fail } of calls.values()) fail(lost);
      reject(lost);
      void this.#retry();
    });
    return promise;
  }

  /** A socket that connects, or that fails because it may not. */
  #dial(): Socket {
    const { socketPath, enter } = this.#options;
    try {
      enter?.();
    } catch (cause) {
      return new Socket().destroy(cause as Error);
    }
    return connect(socketPath);
  }

  async #retry(): Promise<void> {
    const waitMs = this.#retryMs;
    this.#retryMs = Math.min(Math.max(FIRST_RETRY_MS, waitMs * 2), LAST_RETRY_MS);
    if (waitMs > 0) await this.#options.clock.wait(waitMs).over;
    if (!this.#isClosed) await this.#connected().catch(() => undefined); // which has begun the next attempt
  }

  #take(message: Readonly<Record<string, unknown>>, { socket, calls }: Connection): void {
    if ("push" in message) {
      void this.#takePush(message.push as ViewDelta, socket);
      return;
    }
    const call = calls.get(message.number as number);
    if (typeof message.error === "string") call?.reject(new Error(message.error));
    else call?.resolve(message.result);
  }

  async #takePush(delta: ViewDelta, socket: Socket): Promise<void> {
    const position = { logId: delta.logId, seq: delta.to };
    const hasLearned = await this.#learn(delta).catch(() => false);
    if (!hasLearned) return;
    const confirmed = this.#confirmed;
    if (confirmed?.logId !== position.logId || confirmed.seq < position.seq) this.#confirmed = position;
    if (!socket.destroyed) send(socket, { confirmed: position });
  }
}

function send(socket: Socket, message: FromWorker): void {
  socket.write(writeFrame(message));
}
