import { createHmac } from "node:crypto";
import type { Server } from "node:tls";

/** A session can be resumed only in the same context, so every worker uses this one. */
export const SESSION_CONTEXT = "tidemark";

/** How long a key is used. A session that began under the previous key needs a full handshake. */
const KEY_AGE_MS = 12 * 3_600_000;

/**
 * The keys of session tickets (RFC 5077, RFC 8446 §2.2), which every worker makes from one secret and the time, so that
 * they change at the same moment without a message.
 */
export class TicketKeys {
  readonly #secret: string;
  readonly #server: Server;
  readonly #timer: NodeJS.Timeout;
  #epoch = -1;

  constructor(secret: string, server: Server) {
    this.#secret = secret;
    this.#server = server;
    this.#timer = setInterval(() => this.#renew(), 10_000).unref();
    this.#renew();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #renew(): void {
    const epoch = Math.floor(Date.now() / KEY_AGE_MS);
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#server.setTicketKeys(ticketKey(this.#secret, epoch));
  }
}

const KEY_BYTES = 48;

export function ticketKey(secret: string, epoch: number): Buffer {
  return createHmac("sha512", secret).update(`session tickets ${epoch}`).digest().subarray(0, KEY_BYTES);
}
