import { createServer, type Server, type Socket } from "node:net";
import { isWithin, type Network } from "../../worker/rules/forwarding/trusted-proxies.ts";
import { CountedWarning } from "../counted-warning.ts";
import { carrierOf } from "./carriers.ts";
import { nodeTls } from "./node-tls.ts";
import { readProxyHeader } from "./proxy-header.ts";

/** The clients of connections, from the headers of the PROXY protocol; `null` where a header names none. */
const sources = new WeakMap<Socket, string | null>();

/**
 * The address at the other end of a connection, an IPv4 address in its own form, and one of IPv6 without the interface of this
 * machine that leads there (RFC 4007 §11); `null` on a unix socket.
 */
export function addressOf(socket: Socket): string | null {
  const carrier = carrierOf(socket); // its address costs Node less than that of a TLS connection
  return sources.get(carrier) ?? carrier.remoteAddress?.replace(/^::ffff:(?=\d+\.)|%.*$/i, "") ?? null;
}

/** Whether a connection was reset before it was asked for its address. Only on a unix socket there is none to ask for. */
export function isOfNobody(socket: Socket): boolean {
  const carrier = carrierOf(socket);
  return carrier.remoteAddress === undefined && carrier.localAddress !== undefined;
}

/** Whether a proxy has passed on the bytes of a connection without naming who sends them. */
export function isOfUnnamed(socket: Socket): boolean {
  return sources.get(carrierOf(socket)) === null;
}

export interface ProxiedConnectionsParts {
  readonly trustedProxies: readonly Network[];
  readonly timeoutMs: number;
  readonly warn: (line: string) => void;
  /** Called when a connection no longer waits for its header, even if none came. */
  readonly left: () => void;
}

/** The connections whose first bytes have to be a header of the PROXY protocol, of a trusted proxy. */
export class ProxiedConnections {
  readonly #parts: ProxiedConnectionsParts;
  readonly #waiting = new Set<Socket>();
  /** Refused connections: not from a trusted proxy, or without a header. */
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
    const address = addressOf(socket);
    if (address === null) {
      socket.destroy(); // it was reset before it was accepted
      return;
    }
    if (!isWithin(address, this.#parts.trustedProxies)) {
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
        sources.set(socket, read.source);
        socket.pause();
        if (received.byteLength > read.bytes) socket.unshift(received.subarray(read.bytes));
        server.emit("connection", socket);
        // TLS takes the waiting bytes from the paused connection, and reads the rest below it.
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
