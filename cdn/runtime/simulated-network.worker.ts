/**
 * The parts that the simulated CDN's worker and the dev command's worker share: a network with round trips between the
 * edge and what it calls, and a purge log that can be pinged.
 */
import { type EdgeEnv, PurgeLog, type SiteInput } from "tidemark/worker";
import type { Platform } from "tidemark/worker/internal";

/** The name of the one Durable Object that is the purge log; the edge uses the same. */
const LOG_NAME = "tidemark";

/** The purge log, with a method that does nothing: a runtime needs a moment to find the log of another runtime. */
export class PingablePurgeLog extends PurgeLog {
  ping(): true {
    return true;
  }
}

/** The stub of the purge log. */
export function purgeLogOf({ PURGE_LOG }: EdgeEnv): DurableObjectStub<PurgeLog> {
  return PURGE_LOG.get(PURGE_LOG.idFromName(LOG_NAME));
}

/** Whether a call reaches the purge log. */
export async function reachesLog(env: EdgeEnv): Promise<boolean> {
  // The binding is typed for any purge log; in the simulated CDN and the dev command its class is `PingablePurgeLog`.
  const log = purgeLogOf(env) as unknown as { ping(): Promise<true> };
  return log.ping().catch(() => false);
}

/** The network to the origin and the purge log. Each function makes the call, and may delay it, fail, or lose the answer. */
export interface SimulatedNetwork {
  readonly callOrigin: (call: () => ReturnType<Platform["origin"]["fetch"]>) => ReturnType<Platform["origin"]["fetch"]>;
  readonly callLog: <T>(call: () => Promise<T>) => Promise<T>;
}

/** The same platform, with a network before its origin and its purge log. */
export function behindNetwork(platform: Platform, { callOrigin, callLog }: SimulatedNetwork): Platform {
  const { origin, log, audit, ledger } = platform;
  return {
    ...platform,
    origin: { url: origin.url, fetch: (...args) => callOrigin(() => origin.fetch(...args)) },
    log: {
      read: (...args) => callLog(() => log.read(...args)),
      append: (...args) => callLog(() => log.append(...args)),
      ...(log.connect && { connect: (reader) => callLog(() => log.connect!(reader)) }),
    },
    audit: {
      list: (...args) => callLog(() => audit.list(...args)),
      find: (...args) => callLog(() => audit.find(...args)),
    },
    ...(ledger && {
      ledger: {
        ...ledger,
        client: {
          report: (...args) => callLog(() => ledger.client.report(...args)),
          readLedger: (...args) => callLog(() => ledger.client.readLedger(...args)),
        },
      },
    }),
  };
}

/** Makes a call that takes one round trip of real time more: half of it on the way there, half on the way back. */
export async function withRoundTrip<T>(ms: number, call: () => Promise<T>): Promise<T> {
  await pause(ms / 2);
  const answer = await call();
  await pause(ms / 2);
  return answer;
}

/** Where neither the site nor the environment names a public address, the site is served under this one. */
export function withPublicUrl<Env extends EdgeEnv>(site: SiteInput, env: Env, publicUrl: string): Env {
  if (env.TIDEMARK_PUBLIC_URL || site.publicUrl !== undefined) return env;
  return { ...env, TIDEMARK_PUBLIC_URL: publicUrl };
}

/** Resolves after so many real milliseconds; at once for 0. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
