import type { Scheme } from "../connections/arrival.ts";

/**
 * A process accepts one connection from each handle in a turn of its event loop, and a turn may be long: hundreds of clients
 * are answered in it, or several handshakes computed. So a socket has several handles, or else the last of many connections
 * that come at once wait until the others are quiet.
 */
const HANDLES = 16;

/**
 * How many handles of a socket a worker has. All workers share the handles of a socket without TLS, because a process
 * looks into each handle when a connection comes to an idle server, for 2 µs. A handshake costs a hundred times that,
 * and clients give up on one that waits, or open one more.
 */
export function handlesOf(scheme: Scheme, workers: number): number {
  return scheme === "https" ? HANDLES : Math.ceil(HANDLES / workers);
}
