import type { Socket } from "node:net";

/*
 * Node does not tell which TCP connection carries a TLS connection. Both name the same two ends, and no two connections
 * that are open at a time do.
 */

const carriers = new WeakMap<Socket, Socket>();

/** The TCP connections below TLS, also those in their handshakes. */
export class Carriers {
  readonly #open = new Map<string, Socket>();

  add(carrier: Socket): void {
    const ends = endsOf(carrier);
    this.#open.set(ends, carrier);
    carrier.once("close", () => {
      if (this.#open.get(ends) === carrier) this.#open.delete(ends);
    });
  }

  /** Remembers the carrier of a connection whose handshake has ended. */
  join(encrypted: Socket): void {
    const carrier = this.#open.get(endsOf(encrypted));
    if (carrier) carriers.set(encrypted, carrier);
  }

  destroyAll(): void {
    for (const carrier of this.#open.values()) carrier.destroy();
  }
}

/** The TCP connection below a socket, or the socket itself. */
export function carrierOf(socket: Socket): Socket {
  return carriers.get(socket) ?? socket;
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
