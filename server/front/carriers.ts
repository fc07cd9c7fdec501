import type { Socket } from "node:net";

/*
 * Node does not tell which TCP connection carries a TLS connection. Both name the same two ends, and no two connections
 * that are open at a time do.
 */

const carriers = new WeakMap<Socket, Socket>();

/** The TCP connections below TLS, also those in their handshakes. */
export class Carriers {
  readonly #open = new Map<string, Socket>();
  readonly #handshaking = new Set<Socket>();
  readonly #left: () => void;

  /** `left` is called when a handshake has ended, also if that was in vain. */
  constructor(left: () => void) {
    this.#left = left;
  }

  /** How many are in their handshakes. */
  get handshaking(): number {
    return this.#handshaking.size;
  }

  add(carrier: Socket): void {
    if (carrier.remotePort === undefined) return; // it is gone, and its ends are those of all that are gone
    const ends = endsOf(carrier);
    this.#open.set(ends, carrier);
    this.#handshaking.add(carrier);
    carrier.once("close", () => {
      if (this.#open.get(ends) === carrier) this.#open.delete(ends);
      this.#endHandshake(carrier);
    });
  }

  /** Takes a connection whose handshake has ended: it has its carrier while it is served, and counts until it is. */
  join(encrypted: Socket, serve: () => void): void {
    const carrier = this.#open.get(endsOf(encrypted));
    if (carrier) carriers.set(encrypted, carrier);
    serve();
    if (carrier) this.#endHandshake(carrier);
  }

  destroyAll(): void {
    for (const carrier of this.#open.values()) carrier.destroy();
  }

  #endHandshake(carrier: Socket): void {
    if (this.#handshaking.delete(carrier)) this.#left();
  }
}

/** The TCP connection below a socket, or the socket itself. */
export function carrierOf(socket: Socket): Socket {
  return carriers.get(socket) ?? socket;
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
