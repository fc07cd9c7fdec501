import { connect, type NetConnectOpts, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/** A client that sends bytes as they are, and keeps what comes back. */
export class RawClient {
  readonly socket: Socket;
  received = "";
  bytes = 0;
  /** How the connection ended; `null` while it is open. */
  end: "ended" | "reset" | null = null;
  readonly closed: Promise<void>;
  #changed = Promise.withResolvers<void>();

  constructor(where: NetConnectOpts) {
    this.socket = connect({ allowHalfOpen: true, ...where });
    this.socket.setNoDelay(true);
    this.socket.on("data", (chunk: Buffer) => {
      this.received += chunk.toString("latin1");
      this.bytes += chunk.byteLength;
      this.#change();
    });
    this.socket.on("error", () => {
      this.end = "reset";
    });
    this.socket.on("end", () => {
      this.end ??= "ended";
      this.socket.end();
      this.#change();
    });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", () => {
        this.#change();
        resolve();
      });
    });
  }

  /** Sends bytes, in latin1. Resolves once the kernel has them. */
  send(bytes: string): Promise<void> {
    return new Promise((resolve) => this.socket.write(Buffer.from(bytes, "latin1"), () => resolve()));
  }

  /** Resolves to all that was received, once it fits or the connection has ended. */
  async until(fits: (received: string) => boolean): Promise<string> {
    while (!fits(this.received) && this.end === null && !this.socket.destroyed) await this.#changed.promise;
    return this.received;
  }

  destroy(): void {
    this.socket.destroy();
  }

  #change(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** The status codes in what was received, in their order. */
export function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

/** Sends bytes on a connection of their own, ends its side, and resolves to what came until the other side ended. */
export async function exchange(where: NetConnectOpts, ...pieces: readonly string[]): Promise<RawClient> {
  const client = new RawClient(where);
  for (const piece of pieces) {
    await client.send(piece);
    await new Promise(setImmediate);
  }
  client.socket.end();
  await client.closed;
  return client;
}

/** Connects, sends bytes and resets the connection while this thread does nothing, and so before it accepts it. */
export async function resetUnaccepted(where: NetConnectOpts, bytes: string): Promise<void> {
  const done = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(
    `const { workerData } = require("node:worker_threads");
    const socket = require("node:net").connect(workerData.where, () => {
      socket.write(workerData.bytes);
      socket.resetAndDestroy();
    });
    socket.once("close", () => Atomics.notify(workerData.done, 0, Atomics.store(workerData.done, 0, 1)));`,
    { eval: true, workerData: { where, bytes, done } },
  );
  Atomics.wait(done, 0, 0);
  await client.terminate();
}
