import { Agent, fetch } from "undici";
import type { Transport } from "./transport.ts";

/** At most so many requests at once; more wait for one of these. */
const CONNECTIONS = 8;

/**
 * Node's way to the edge: connections are kept and used again.
 *
 * An idle one does not hold the process open, because undici unrefs the socket of a client without requests. Its own
 * timeouts are off: the deadline of the call covers them. HTTP/1.1 is enough for a few purges.
 */
export function openUndici(): Transport {
  const dispatcher = new Agent({ connections: CONNECTIONS, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  return {
    fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    close: () => dispatcher.close(),
  };
}
