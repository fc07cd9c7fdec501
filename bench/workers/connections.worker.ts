/** Readers of a purge log that do nothing but confirm: as many connections as one asks for, held by one request. */
import { OldPurgeLog } from "../../test/runtime/old-purge-log.worker.ts";
import { PurgeLogStub } from "../../worker/purges/log/purge-log-stub.ts";

/** Longer than a measurement, so that no lease has to be renewed. */
const LEASE_MS = 60_000;

interface Env {
  readonly PURGE_LOG: DurableObjectNamespace<PurgeLog>;
}

/** A log that can be restarted, and takes any number of connections. */
export class PurgeLog extends OldPurgeLog {
  restart(): void {
    this.ctx.abort("restarted by the bench");
  }

  protected override get maxConnections(): number {
    return Number.POSITIVE_INFINITY;
  }
}

let isOpen = false;
let failed = 0;
let learned = 0;
let lastLearnedAt = 0;
let connectedInMs = 0;

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const log = new PurgeLogStub(env.PURGE_LOG as never);
    switch (pathname) {
      case "/connect":
        return connect(log, Number(searchParams.get("count")));
      case "/purge":
        return purge(log);
      case "/close":
        isOpen = false;
        return new Response();
      case "/restart":
        await env.PURGE_LOG.get(env.PURGE_LOG.idFromName("tidemark"))
          .restart()
          .catch(() => undefined);
        return new Response();
      default:
        return Response.json({ isOpen, failed, connectedInMs });
    }
  },
};

/** Opens all of them at once, and holds the answer until they are to be closed. */
async function connect(log: PurgeLogStub, count: number): Promise<Response> {
  const startedAt = Date.now();
  const learn = async () => {
    learned++;
    lastLearnedAt = Date.now();
    return true;
  };
  const opening = Array.from({ length: count }, (_, index) =>
    log.connect({
      name: `reader ${index}`,
      since: null,
      skewMs: 0,
      leaseMs: LEASE_MS,
      longestViewAgeMs: LEASE_MS,
      learn,
    }),
  );
  const opened = (await Promise.allSettled(opening)).flatMap((one) =>
    one.status === "fulfilled" && one.value ? [one.value] : [],
  );
  failed = count - opened.length;
  connectedInMs = Date.now() - startedAt;
  isOpen = true;
  while (isOpen) await scheduler.wait(20);
  for (const connection of opened) connection.close();
  return new Response();
}

async function purge(log: PurgeLogStub): Promise<Response> {
  learned = 0;
  const startedAt = Date.now();
  const purged = await log.append({
    ...{ id: null, content: "", purgeKeys: ["#a"], repeatAfterMs: null, reason: null, by: "bench", since: null },
    ...{ accepted: { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false } },
    ...{ leaseMs: LEASE_MS, skewMs: 0, reader: "purger" },
  });
  if (purged.kind !== "appended") throw new Error("not appended");
  const record = await log.find(purged.seq, 25_000);
  const settledInMs = Date.now() - startedAt;
  return Response.json({ seenInMs: lastLearnedAt - startedAt, settledInMs, learned, hasSettled: record?.settled });
}
