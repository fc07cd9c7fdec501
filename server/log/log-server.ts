import { once } from "node:events";
import { chmodSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { AppendRequest, AppendResult } from "../../worker/purges/log/log-contract.ts";
import type { Stamp } from "../../worker/rules/storing/stored-response.ts";
import { messageOf } from "../message-of.ts";
import { FrameReader, MAX_FRAME_BYTES, writeFrame } from "./frames.ts";
import { CALLS, type Call, type FromLog, type LogCalls } from "./log-messages.ts";
import type { LogReaders, PushChannel } from "./log-readers.ts";

/** A worker with this many unread bytes has stopped reading, so its connection is closed. */
const MAX_UNREAD_BYTES = 2 * MAX_FRAME_BYTES;

/** The events of a log's socket, for its supervisor. */
export interface LogServerEvents {
  brokenPeer(cause: unknown): void;
  /** The log has begun to refuse purges. Each caller also gets its own error. */
  purgesRefused(cause: unknown): void;
  /** The log has accepted a purge again. */
  purgesTaken(): void;
  /**
   * A worker's purge is in the log. Its receipt waits for this; if it rejects, the worker gets the error. Resolves to the time
   * in which it settles elsewhere, in milliseconds.
   */
  purged(worker: string, purge: AppendRequest): Promise<number>;
}

/**
 * Answers workers on a Unix socket. A peer that breaks the format, or stops reading, loses its connection and nothing
 * else happens.
 */
export class LogServer {
  readonly #log: LogCalls;
  readonly #readers: LogReaders;
  readonly #events: LogServerEvents;
  #takesPurges = true;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(log: LogCalls, readers: LogReaders, events: LogServerEvents) {
    this.#log = log;
    this.#readers = readers;
    this.#events = events;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  /** The caller owns the folder of the socket, so a dead process left a file of that name. */
  async listen(path: string): Promise<void> {
    try {
      unlinkSync(path);
    } catch {
      // There was none; or it cannot be deleted, and listening then fails with the reason.
    }
    this.#server.listen(path);
    await once(this.#server, "listening");
    this.#server.on("error", () => undefined); // a connection was not accepted, and its worker makes another one
    // Only the owner's processes may connect. A connection that came before needs the name of a worker all the same, unless
    // one of an earlier supervisor is alive.
    chmodSync(path, 0o600);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /**
   * Gives a worker's purge to the log. It settles when it does so everywhere. While a disk is full, a log takes no purges, and
   * can be read.
   */
  async #append(worker: string, purge: AppendRequest): Promise<AppendResult> {
    try {
      let result = await this.#log.append(purge);
      if (result.kind === "appended") {
        const elsewhereMs = await this.#events.purged(worker, purge);
        result = { ...result, settlesInMs: Math.max(result.settlesInMs, elsewhereMs) };
      }
      if (!this.#takesPurges) this.#events.purgesTaken();
      this.#takesPurges = true;
      return result;
    } catch (cause) {
      if (this.#takesPurges) this.#events.purgesRefused(cause);
      this.#takesPurges = false;
      throw cause;
    }
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    const peer = new Peer(socket, this.#log, this.#readers, (...purge) => this.#append(...purge));
    const frames = new FrameReader((message) => peer.take(message));
    socket.on("data", (piece) => {
      try {
        frames.read(piece as Buffer);
      } catch (cause) {
        this.#events.brokenPeer(cause);
        socket.destroy();
      }
    });
    socket.on("error", () => socket.destroy()); // "close" follows
    socket.on("close", () => {
      this.#sockets.delete(socket);
      peer.disconnected();
    });
  }
}

type Append = (worker: string, purge: AppendRequest) => Promise<AppendResult>;

/** One worker's connection. */
class Peer implements PushChannel {
  readonly #socket: Socket;
  readonly #log: LogCalls;
  readonly #readers: LogReaders;
  readonly #append: Append;
  #name: string | null = null;

  constructor(socket: Socket, log: LogCalls, readers: LogReaders, append: Append) {
    this.#socket = socket;
    this.#log = log;
    this.#readers = readers;
    this.#append = append;
  }

  push(delta: Extract<FromLog, { push: unknown }>["push"]): void {
    this.#send({ push: delta });
  }

  /** Throws if the peer sends something that no worker sends. */
  take(message: Readonly<Record<string, unknown>>): void {
    const confirmed = stampIn(message.confirmed);
    if (typeof message.hello === "string") this.#greet(message.hello, stampIn(message.position));
    else if (this.#name === null) throw new Error("a message before the worker's name");
    else if (confirmed !== null) this.#readers.confirm(this.#name, confirmed);
    else this.#takeCall(message);
  }

  disconnected(): void {
    if (this.#name !== null) this.#readers.disconnect(this.#name, this);
  }

  #greet(name: string, position: Stamp | null): void {
    if (this.#name !== null || !this.#readers.connect(name, this, position)) {
      throw new Error("a connection of no worker");
    }
    this.#name = name;
  }

  #takeCall({ number, call, parameters }: Readonly<Record<string, unknown>>): void {
    const known = CALLS.find((each) => each === call);
    if (known === undefined || typeof number !== "number" || !Array.isArray(parameters)) {
      throw new Error("a message that the log does not know");
    }
    void this.#answer(number, known, parameters);
  }

  async #answer(number: number, call: Call, parameters: readonly unknown[]): Promise<void> {
    try {
      // A worker is of the same version as its supervisor, which started it: its parameters have the right types. One of an
      // earlier supervisor may be of another version, and its call fails then.
      const work = this.#log[call] as (...given: readonly unknown[]) => Promise<unknown>;
      const append = () => this.#append(this.#name!, parameters[0] as AppendRequest);
      const answer = call === "append" ? append() : work.apply(this.#log, [...parameters]);
      this.#send({ number, result: await answer });
    } catch (cause) {
      this.#send({ number, error: messageOf(cause) });
    }
  }

  #send(message: FromLog): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(writeFrame(message));
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.#socket.destroy();
  }
}

function stampIn(value: unknown): Stamp | null {
  const { logId, seq } = (value ?? {}) as Partial<Stamp>;
  return typeof logId === "string" && typeof seq === "number" ? { logId, seq } : null;
}
