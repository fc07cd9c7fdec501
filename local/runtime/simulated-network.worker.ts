/**
 * The parts that the simulated CDN's worker and the dev command's worker share: a network with round trips between the
 * edge and what it calls, and a purge log that can be pinged.
 */
import { type EdgeEnv, PurgeLog, type SiteInput } from "tidemark/worker";
import type { Platform } from "tidemark/worker/internal";

/** Longer than any log remembers a reader without a name, in milliseconds. */
const LONG_AGO_MS = 2 * 24 * 3600 * 1000;

/** The longest wait for a push, in real milliseconds. */
const PUSH_TAKES_MS = 2000;

type PushStub = Parameters<PurgeLog["openConnection"]>[1];

/** The name of the one Durable Object that is the purge log; the edge uses the same. */
const LOG_NAME = "tidemark";

/** The purge log of a simulation. */
export class SimulatedPurgeLog extends PurgeLog {
  #behindMs = 0;
  #pushesUnderWay = 0;

  /** Does nothing. Callers use it to wait until a runtime has found another runtime's log. */
  ping(): true {
    return true;
  }

  /**
   * For a day after a log was created, receipts do not settle by confirmations, because somebody may have read an
   * earlier log. A simulation's first log has no predecessor, so it may count as old.
   */
  begin(): void {
    this.#behindMs = LONG_AGO_MS;
    this.read(null, 0, 0, undefined, "nobody");
    this.#behindMs = 0;
  }

  /** Resolves once all pushes under way have been answered. */
  async finishPushes(): Promise<void> {
    const until = Date.now() + PUSH_TAKES_MS;
    while (this.#pushesUnderWay > 0 && Date.now() < until) await pause(1);
  }

  override openConnection(...[reader, learn]: Parameters<PurgeLog["openConnection"]>) {
    const held = learn.dup!();
    const push: PushStub = async (delta) => {
      this.#pushesUnderWay++;
      try {
        return await held(delta);
      } finally {
        this.#pushesUnderWay--;
      }
    };
    return super.openConnection(reader, Object.assign(push, { [Symbol.dispose]: () => disposeOf(held) }));
  }

  protected override now(): number {
    return this.time() - this.#behindMs;
  }

  /** Overridden where time stands still. */
  protected time(): number {
    return Date.now();
  }
}

function disposeOf(stub: PushStub): void {
  (stub as Partial<Disposable>)[Symbol.dispose]?.();
}

/** The stub of the purge log. The binding is typed for any purge log; in a simulation its class is this one. */
export function purgeLogOf({ PURGE_LOG }: EdgeEnv): DurableObjectStub<SimulatedPurgeLog> {
  return PURGE_LOG.get(PURGE_LOG.idFromName(LOG_NAME)) as unknown as DurableObjectStub<SimulatedPurgeLog>;
}

/** Whether a call reaches the purge log. */
export async function reachesLog(env: EdgeEnv): Promise<boolean> {
  return purgeLogOf(env)
    .ping()
    .catch(() => false);
}

/** The network to the origin and the purge log. Each function makes the call, and may delay it, fail, or lose the answer. */
export interface SimulatedNetwork {
  readonly callOrigin: (call: () => ReturnType<Platform["origin"]["fetch"]>) => ReturnType<Platform["origin"]["fetch"]>;
  readonly callLog: <T>(call: () => Promise<T>) => Promise<T>;
  /** For counts and knowledge about stored pages, over the same network as the log. */
  readonly callLedger: <T>(call: () => Promise<T>) => Promise<T>;
}

/** The same platform, with a network before its origin and its purge log. */
export function behindNetwork(platform: Platform, { callOrigin, callLog, callLedger }: SimulatedNetwork): Platform {
  const { origin, log, audit, ledger } = platform;
  return {
    ...platform,
    origin: { url: origin.url, fetch: (...args) => callOrigin(() => origin.fetch(...args)) },
    log: {
      read: (...args) => callLog(() => log.read(...args)),
      append: (...args) => callLog(() => log.append(...args)),
      ...(log.connect && { connect: connectOver(log.connect.bind(log), callLog) }),
    },
    audit: {
      list: (...args) => callLog(() => audit.list(...args)),
      find: (...args) => callLog(() => audit.find(...args)),
    },
    ...(ledger && {
      ledger: {
        ...ledger,
        client: {
          report: (...args) => callLedger(() => ledger.client.report(...args)),
          readLedger: (...args) => callLedger(() => ledger.client.readLedger(...args)),
          findUnseen: (...args) => callLedger(() => ledger.client.findUnseen(...args)),
        },
      },
    }),
  };
}

type Connect = NonNullable<Platform["log"]["connect"]>;

/** Every message over a connection goes over the network. */
function connectOver(connect: Connect, callLog: SimulatedNetwork["callLog"]): Connect {
  return async ({ learn, ...reader }) => {
    const connection = await callLog(() => connect({ ...reader, learn: (delta) => callLog(() => learn(delta)) }));
    return (
      connection && {
        first: connection.first,
        renew: (...asked) => callLog(() => connection.renew(...asked)),
        release: () => callLog(() => connection.release()),
        close: () => connection.close(),
      }
    );
  };
}

/** Makes a call with an additional round trip of real time: half of it on the way there, half on the way back. */
export async function withRoundTrip<T>(ms: number, call: () => Promise<T>): Promise<T> {
  await pause(ms / 2);
  const answer = await call();
  await pause(ms / 2);
  return answer;
}

/** If neither the site nor the environment names a public address, the site is served under this one. */
export function withPublicUrl<Env extends EdgeEnv>(site: SiteInput, env: Env, publicUrl: string): Env {
  if (env.TIDEMARK_PUBLIC_URL || site.publicUrl !== undefined) return env;
  return { ...env, TIDEMARK_PUBLIC_URL: publicUrl };
}

/** Resolves after so many real milliseconds; at once for 0. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
