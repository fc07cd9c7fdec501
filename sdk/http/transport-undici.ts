import "../node-version.ts";
import { Agent, EnvHttpProxyAgent, fetch, Pool } from "undici";
import { THROUGH_PROXY } from "./failures.ts";
import { MAX_HELD_READS, type Transport } from "./transport.ts";

/** The most purges at once; further ones wait for a connection. */
const MAX_PURGES = 8;
/** The most reads at once. The edge holds some of them, and neither purges nor other reads may wait behind those. */
const MAX_READS = MAX_HELD_READS + 8;
/** The time for a tunnel through a proxy: undici's own for a connection. */
const TUNNEL_TIMEOUT_MS = 10_000;

/**
 * The transport on Node, with persistent connections.
 *
 * An idle connection does not keep the process running, because undici unrefs the socket of a client without requests.
 * Undici's own timeouts are off, because the deadline of the call covers them. HTTP/1.1 is enough for a few purges.
 */
export function openUndici(): Transport {
  const open = (connections: number): Agent | EnvHttpProxyAgent => {
    const options: Agent.Options = { connections, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
    // As Node's own fetch, which reads the variables in the same way and takes tunnels for http, too.
    if (process.env.NODE_USE_ENV_PROXY !== "1") return new Agent(options);
    return new EnvHttpProxyAgent({
      ...options,
      proxyTunnel: true,
      factory: poolThatNamesProxy,
      // A proxy that opens no tunnel holds up `close` for as long.
      clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: TUNNEL_TIMEOUT_MS }),
    });
  };
  const [purges, reads] = [open(MAX_PURGES), open(MAX_READS)];
  return {
    fetch: (url, init) => fetch(url, { ...init, dispatcher: init.method === "POST" ? purges : reads }),
    close: async () => {
      // Bun puts agents of its own in place of undici's; they hold no connections and have no `close`.
      await Promise.all([purges, reads].map((agent: Partial<Agent | EnvHttpProxyAgent>) => agent.close?.()));
    },
  };
}

/** Only an agent of a proxy gives a function to connect with. Its errors do not name the proxy. */
function poolThatNamesProxy(origin: string | URL, { connect, ...options }: Pool.Options): Pool {
  if (typeof connect !== "function") return new Pool(origin, options);
  return new Pool(origin, {
    ...options,
    connect: (target, callback) =>
      connect(target, (...outcome) => {
        const [error] = outcome;
        // The one that tells the reason.
        const { cause = error } = error ?? {};
        if (cause instanceof Error) cause.message = [cause.message, THROUGH_PROXY].filter(Boolean).join(", ");
        callback(...outcome);
      }),
  });
}
