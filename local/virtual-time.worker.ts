/**
 * An edge on virtual time, for tests: freshness, leases and the log go by a clock that stands still until it is set.
 * Waits for the origin and for other requests stay real. Only the harness bundles this; what is deployed has no such door.
 */
import { createEdge, type EdgeEnv, type SiteInput, PurgeLog as SystemTimePurgeLog } from "tidemark/worker";

/** `GET` on this path with `?now=<epoch milliseconds>` sets the time. */
const CLOCK_PATH = "/_virtual-time";

let now = 0;
let edge: ExportedHandler<EdgeEnv> | undefined;

const clock = {
  now: () => now,
  wait: (ms: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    return { over: promise, cancel: () => clearTimeout(timer) };
  },
};

export default {
  async fetch(request, env, context) {
    const url = new URL(request.url);
    if (url.pathname === CLOCK_PATH) {
      now = Number(url.searchParams.get("now"));
      return new Response(String(now));
    }
    edge ??= createEdge(env.SITE, { clock });
    return edge.fetch!(request, env, context);
  },
} satisfies ExportedHandler<EdgeEnv & { SITE: SiteInput }>;

export class PurgeLog extends SystemTimePurgeLog {
  protected override now(): number {
    return now;
  }
}
