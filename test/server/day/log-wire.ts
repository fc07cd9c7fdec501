import { connect, createServer, type Server, type Socket } from "node:net";

/** The socket by which one worker reaches the log. While it is silent, nothing arrives at either end. */
export class LogWire {
  readonly path: string;
  readonly #to: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isSilent = false;

  private constructor(path: string, to: string) {
    this.path = path;
    this.#to = to;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async open(path: string, to: string): Promise<LogWire> {
    const wire = new LogWire(path, to);
    await new Promise<void>((resolve) => wire.#server.listen(path, resolve));
    return wire;
  }

  set isSilent(isSilent: boolean) {
    this.#isSilent = isSilent;
    for (const socket of this.#sockets) isSilent ? socket.pause() : socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(near: Socket): void {
    const far = connect(this.#to);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on("data", (piece) => void to.write(piece));
      from.on("error", () => undefined); // "close" follows
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isSilent) from.pause();
    }
  }
}
