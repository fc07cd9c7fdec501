import { createServer, type Server, type Socket } from "node:net";
import { listenLocally } from "../suite/local-url.ts";

/** An origin that writes given bytes, for answers that no HTTP server would send. */
export class SocketOrigin {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** `answer` gets each request's text as it came, and the socket to write to. */
  constructor(answer: (request: string, socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined); // The edge may close the connection at any time.
      socket.on("data", (chunk) => answer(chunk.toString("latin1"), socket));
    });
  }

  async start(): Promise<string> {
    return listenLocally(this.#server);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
