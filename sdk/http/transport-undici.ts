import "../node-version.ts";
import { type Agent, type EnvHttpProxyAgent, fetch } from "undici";
import { openAgent } from "./open-agent.ts";
import { MAX_HELD_READS, type Transport } from "./transport.ts";

/** The most purges at once; further ones wait for a connection. */
const MAX_PURGES = 8;
/** The most reads at once. The edge holds some of them, and neither purges nor other reads may wait behind those. */
const MAX_READS = MAX_HELD_READS + 8;

/**
 * The transport on Node, with persistent connections.
 *
 * An idle connection does not keep the process running, because undici unrefs the socket of a client without requests.
 * Undici's own timeouts are off, because the deadline of the call covers them. HTTP/1.1 is enough for a few purges.
 */
export function openUndici(): Transport {
  const open = (connections: number) => openAgent({ connections, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const [purges, reads] = [open(MAX_PURGES), open(MAX_READS)];
  return {
    fetch: (url, init) => fetch(url, { ...init, dispatcher: init.method === "POST" ? purges : reads }),
    close: async () => {
      // Bun puts agents of its own in place of undici's; they hold no connections and have no `close`.
      await Promise.all([purges, reads].map((agent: Partial<Agent | EnvHttpProxyAgent>) => agent.close?.()));
    },
  };
}
