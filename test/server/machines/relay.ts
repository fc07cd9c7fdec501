import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** The network between a machine and its database: a TCP relay that a test can cut. */
export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #to: number;

  private constructor(to: number) {
    this.#to = to;
    // Nothing is told to either end of a connection that is cut: packets are lost in silence.
    this.#server = createServer({ pauseOnConnect: true }, (client) => {
      const server = connect(this.#to, "127.0.0.1");
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(from);
        from.on("data", (piece) => to.write(piece));
        from.on("error", () => to.destroy());
        from.on("close", () => {
          to.destroy();
          this.#sockets.delete(from);
        });
        if (this.#isCut) from.pause();
        else from.resume();
      }
    });
  }

  /** Relays to this port of 127.0.0.1. */
  static async to(port: number): Promise<Relay> {
    const relay = new Relay(port);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  /** Relays what connects from now on to this port, as a name does that leads elsewhere. */
  leadTo(port: number): void {
    this.#to = port;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
    this.silence();
  }

  /** Cuts what is connected, and not what connects from now on. */
  silence(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  /** What was held up arrives late. */
  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
