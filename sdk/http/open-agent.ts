import { Agent, type buildConnector, EnvHttpProxyAgent, Pool } from "undici";
import { THROUGH_PROXY } from "./failures.ts";

/** The time for a tunnel through a proxy: undici's own for a connection. */
const TUNNEL_TIMEOUT_MS = 10_000;

type OpenOptions = Omit<Agent.Options, "connect"> & { readonly connect?: buildConnector.BuildOptions };

/** A name may have several addresses. Node gives each but the last 250 ms, which is too little for one far away. */
const NEXT_ADDRESS_AFTER_MS = 1_000;

/**
 * The connections of a client, through the proxy of the environment where Node's own fetch takes that, and as it reads the
 * variables; but with a tunnel for http, too.
 */
export function openAgent({ connect, ...others }: OpenOptions): Agent | EnvHttpProxyAgent {
  const options = { ...others, connect: { autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS, ...connect } };
  if (!usesProxies()) return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    proxyTunnel: true,
    factory: poolThatNamesProxy,
    // A proxy that opens no tunnel holds up `close` for as long.
    clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: TUNNEL_TIMEOUT_MS }),
  });
}

/** Whether Node's own fetch takes the proxies of the environment. Of several flags the last one counts. */
function usesProxies(): boolean {
  const { NODE_OPTIONS = "", NODE_USE_ENV_PROXY } = process.env;
  const flags = [...NODE_OPTIONS.split(/\s+/), ...process.execArgv];
  const flag = flags
    .map((each) => each.replaceAll("_", "-"))
    .findLast((each) => /^--(?:no-)?use-env-proxy$/.test(each));
  return flag === undefined ? NODE_USE_ENV_PROXY === "1" : flag === "--use-env-proxy";
}

/** Only an agent of a proxy gives a function to connect with. Its errors do not name the proxy. */
function poolThatNamesProxy(origin: string | URL, { connect, ...options }: Pool.Options): Pool {
  if (typeof connect !== "function") return new Pool(origin, connect ? { ...options, connect } : options);
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
