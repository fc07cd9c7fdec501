import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { listenOnKeptPort } from "./kept-port.ts";

/**
 * The socket that visitors connect to. It passes bytes on to one worker, keeps its port while the worker restarts on
 * another one, and can refuse connections while the worker runs.
 */
export class TcpProxy {
  #target: URL;
  #server: Server | undefined;
  #port = 0;
  readonly #sockets = new Set<Socket>();

  constructor(target: URL) {
    this.#target = target;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}`);
  }

  /** Passes new connections on to another address. */
  retarget(target: URL): void {
    this.#target = target;
  }

  /** Accepts connections, on its earlier port if it had one. */
  async open(): Promise<void> {
    if (this.#server) return;
    const server = createServer({ noDelay: true }, (visitor) => this.#forward(visitor));
    this.#port = await listenOnKeptPort(server, this.#port);
    this.#server = server;
  }

  /** Resets all connections and refuses new ones. */
  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    for (const socket of this.#sockets) {
      // Node cannot reset a socket whose sending side has ended; its handle would stay open and keep the process alive.
      if (socket.writableEnded) socket.destroy();
      else socket.resetAndDestroy();
    }
    await closed;
  }

  #forward(visitor: Socket): void {
    const worker = connect({ host: this.#target.hostname, port: Number(this.#target.port), noDelay: true });
    for (const [socket, other] of [
      [visitor, worker],
      [worker, visitor],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => other.destroy()); // Either side may disconnect at any time.
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroySoon();
      });
      socket.pipe(other);
    }
  }
}
