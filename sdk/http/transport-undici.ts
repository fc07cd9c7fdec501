import "../node-version.ts";
import { Agent, fetch } from "undici";
import type { Transport } from "./transport.ts";

/** The most requests at once; further ones wait for a connection. */
const MAX_CONNECTIONS = 8;

/**
 * The transport on Node, with persistent connections.
 *
 * An idle connection does not keep the process running, because undici unrefs the socket of a client without requests.
 * Undici's own timeouts are off, because the deadline of the call covers them. HTTP/1.1 is enough for a few purges.
 */
export function openUndici(): Transport {
  const dispatcher = new Agent({ connections: MAX_CONNECTIONS, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  return {
    fetch: (url, init) => fetch(url, { ...init, dispatcher }),
    close: () => dispatcher.close(),
  };
}
