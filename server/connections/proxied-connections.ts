import { createServer, type Server, type Socket } from "node:net";
import { isWithin, type Network } from "../../worker/rules/forwarding/trusted-proxies.ts";
import { CountedWarning } from "../counted-warning.ts";
import { carrierOf } from "./carriers.ts";
import { nodeTls } from "./node-tls.ts";
import { readProxyHeader } from "./proxy-header.ts";

/** The clients of connections, as the PROXY protocol has told them. */
const sources = new WeakMap<Socket, string>();

/** The address at the other end of a connection, with one of IPv4 as such; `null` on a unix socket. */
export function addressOf(socket: Socket): string | null {
  const carrier = carrierOf(socket); // whose address Node tells for less than that of a TLS connection
  return sources.get(carrier) ?? carrier.remoteAddress?.replace(/^::ffff:(?=\d+\.)/i, "") ?? null;
}

export interface ProxiedConnectionsParts {
  readonly trustedProxies: readonly Network[];
  readonly timeoutMs: number;
  readonly warn: (line: string) => void;
  /** Called when a connection no longer waits for its header, also if none came. */
  readonly left: () => void;
}

/** The connections whose first bytes have to be a header of the PROXY protocol, of a trusted proxy. */
export class ProxiedConnections {
  readonly #parts: ProxiedConnectionsParts;
  readonly #waiting = new Set<Socket>();
  /** Connections from others than trusted proxies, or without a header. */
  readonly #refused: CountedWarning;

  constructor(parts: ProxiedConnectionsParts) {
    this.#parts = parts;
    this.#refused = new CountedWarning(parts.warn);
  }

  /** How many wait for their header. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A server that hands connections to another one after their headers. */
  before(server: Server): Server {
    const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket, server));
    front.once("close", () => server.close());
    return front;
  }

  destroyAll(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  #accept(socket: Socket, server: Server): void {
    socket.on("error", () => undefined); // "close" follows
    if (!isWithin(addressOf(socket), this.#parts.trustedProxies)) {
      this.#refuse(socket, "is no trusted proxy");
      return;
    }
    this.#waiting.add(socket);
    let received: Buffer = Buffer.alloc(0);
    const timer = setTimeout(() => this.#refuse(socket, "sent no PROXY header in time"), this.#parts.timeoutMs);
    const take = (piece: Buffer) => {
      received = received.byteLength === 0 ? piece : Buffer.concat([received, piece]);
      const read = readProxyHeader(received);
      if (read.kind === "incomplete") return;
      stopWaiting();
      if (read.kind === "none") {
        this.#refuse(socket, "did not begin with a PROXY header");
      } else {
        if (read.source !== null) sources.set(socket, read.source);
        socket.pause();
        if (received.byteLength > read.bytes) socket.unshift(received.subarray(read.bytes));
        server.emit("connection", socket);
        // TLS takes what waits from a paused connection, and the rest below it.
        if (!(server instanceof nodeTls().Server)) socket.resume();
      }
      this.#forget(socket);
    };
    const leave = () => socket.destroy();
    const stopWaiting = () => {
      clearTimeout(timer);
      socket.off("data", take).off("end", leave);
    };
    socket.on("data", take);
    socket.on("end", leave);
    socket.once("close", () => {
      stopWaiting();
      this.#forget(socket);
    });
  }

  #forget(socket: Socket): void {
    if (this.#waiting.delete(socket)) this.#parts.left();
  }

  #refuse(socket: Socket, because: string): void {
    this.#refused.add(`A connection was refused: ${socket.remoteAddress ?? "unknown"} ${because}`);
    socket.resetAndDestroy();
  }
}
