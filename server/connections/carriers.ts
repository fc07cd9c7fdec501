import type { Socket } from "node:net";

/*
 * Node does not document which TCP connection carries a TLS connection. It keeps it, and to ask for that costs nothing. Where
 * it did not, both would name the same two ends, and no two connections that are open at a time do. Nor does it document
 * what waits in that connection.
 */

const carriers = new WeakMap<Socket, Socket>();

/** The TCP connections below TLS, also those in their handshakes. */
export class Carriers {
  readonly #open = new Set<Socket>();
  readonly #handshaking = new Set<Socket>();
  readonly #left: () => void;

  /** `left` is called when a handshake has ended, even if it failed. */
  constructor(left: () => void) {
    this.#left = left;
  }

  /** How many are in their handshakes. */
  get handshaking(): number {
    return this.#handshaking.size;
  }

  add(carrier: Socket): void {
    if (carrier.destroyed) return;
    this.#open.add(carrier);
    this.#handshaking.add(carrier);
    carrier.once("close", () => {
      this.#open.delete(carrier);
      this.#endHandshake(carrier);
    });
  }

  /**
   * Takes a connection whose handshake has ended. Its carrier is known while it is served, and it counts as a handshake
   * until then.
   */
  join(encrypted: Socket, serve: () => void): void {
    const carrier = this.#find(encrypted);
    if (carrier) carriers.set(encrypted, carrier);
    serve();
    if (carrier) this.#endHandshake(carrier);
  }

  /** Sends these bytes below TLS, to a client that does not speak it, and ends the connection. */
  answerBelow(encrypted: Socket, bytes: string): void {
    this.#find(encrypted)?.end(bytes);
  }

  destroyAll(): void {
    for (const carrier of this.#open) carrier.destroy();
  }

  #find(encrypted: Socket): Socket | undefined {
    const { _parent: kept } = encrypted as Socket & { readonly _parent?: Socket | null };
    if (kept && this.#open.has(kept)) return kept;
    const ends = endsOf(encrypted);
    return [...this.#open].find((carrier) => endsOf(carrier) === ends);
  }

  #endHandshake(carrier: Socket): void {
    if (this.#handshaking.delete(carrier)) this.#left();
  }
}

/** The TCP connection below a socket, or the socket itself. */
export function carrierOf(socket: Socket): Socket {
  return carriers.get(socket) ?? socket;
}

/**
 * The bytes that wait below TLS for the client to read; `null` for a connection without TLS. Node tells by a timeout that
 * nothing was written for a time, and sees only of a connection without TLS that a long piece is still on its way.
 */
export function unreadBelow(encrypted: Socket): number | null {
  const carrier = carriers.get(encrypted) as { readonly _handle?: { readonly writeQueueSize?: number } } | undefined;
  return carrier?._handle?.writeQueueSize ?? null;
}

/**
 * Lets Node find out whether the client of a connection with TLS has reset it, for it may lose that error, and then it waits for
 * ever to write. This sends nothing, and fails if that was so. Behind bytes that wait, TLS would take it for one of its own writes.
 */
export function noticeReset(encrypted: Socket): void {
  if (unreadBelow(encrypted) === 0) carrierOf(encrypted).write("");
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
