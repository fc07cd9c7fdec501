import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { RunningWorker, WorkerStart } from "../../../server/program/worker-program.ts";
import { ONLY_SITE } from "../../../server/supervisor/site-logs.ts";
import { systemClock } from "../../../server/system-clock.ts";
import type { NewPurge } from "../../../worker/ports/purge-log.ts";
import type { PopNotes } from "../../../worker/ports/store.ts";
import { PopSharing } from "../../../worker/purges/lease/pop-sharing.ts";
import { ReadYourWritesLog } from "../../../worker/purges/lease/read-your-writes-log.ts";
import { ViewLease } from "../../../worker/purges/lease/view-lease.ts";
import { PurgeView } from "../../../worker/purges/view/purge-view.ts";
import type { StoredHead } from "../../../worker/rules/storing/stored-response.ts";

/** The settings of a worker under test. */
export interface PageSettings {
  readonly version: string;
  /** Each worker also listens on a socket of its own in this folder, so that a test can speak to one of them. */
  readonly folder: string;
  readonly failsAtStart?: boolean;
  /** It computes for so long before it starts. */
  readonly computesMs?: number;
  /** It confirms nothing, as if the log did not answer it. */
  readonly isDeaf?: boolean;
  /** It asks the service, and waits for the answer, before it starts and before it listens. It does not start after "fail". */
  readonly asksFirst?: boolean;
  readonly leaseMs: number;
}

const noNotes: PopNotes = { read: async () => null, write: async () => undefined };
const background = { run: () => undefined };

/**
 * A worker with a real view and lease, and nothing else of the edge: `/purge` appends to the log, `/stamp` tells the view's
 * position, `/check` whether an entry with that stamp is purged. `/hold` waits for SIGUSR2, and with a key purges then.
 * `/compute` writes a file and never ends.
 */
export async function startWorker({ name, settings, logs, line }: WorkerStart): Promise<RunningWorker> {
  const log = logs.get(ONLY_SITE)!;
  const {
    version,
    folder,
    failsAtStart,
    isDeaf = false,
    asksFirst,
    computesMs = 0,
    leaseMs,
  } = settings as PageSettings;
  for (const from = process.cpuUsage(); cpuMs(process.cpuUsage(from)) < computesMs; );
  const told = asksFirst && (await line.ask("start"));
  if (failsAtStart || told === "fail") throw new Error("this worker was told to fail");
  const timing = { leaseMs, skewMs: 250 };
  const reporter = { report: () => undefined };
  const view = new PurgeView(64 * 1024);
  const pop = new PopSharing(noNotes, timing, systemClock, reporter);
  const parts = { settings: timing, view, log, pop, clock: systemClock, random: Math.random, reporter };
  const lease = new ViewLease(parts);
  const writer = new ReadYourWritesLog(log, lease);
  const held: (() => void)[] = [];
  process.on("SIGUSR2", () => {
    for (const go of held.splice(0)) go();
  });

  const answer = async (url: URL, response: ServerResponse): Promise<unknown> => {
    const asked = url.searchParams;
    switch (url.pathname) {
      case "/who":
        return { name, pid: process.pid, version };
      case "/hold": {
        const { promise, resolve } = Promise.withResolvers<void>();
        held.push(resolve);
        response.writeHead(200).flushHeaders();
        await promise;
        if (asked.has("key")) return writer.append({ ...PURGE, purgeKeys: [asked.get("key")!] });
        return { name, pid: process.pid, version };
      }
      case "/compute":
        writeFileSync(`${folder}/computing`, "");
        for (;;);
      case "/crash":
        process.exit(7);
        return undefined;
      case "/purge": {
        const victim = asked.get("victim");
        if (asked.get("killAt") === "before") process.kill(Number(victim), "SIGKILL");
        const by = asked.has("killAt") ? `kill at ${asked.get("killAt")}` : "test";
        return writer.append({ ...PURGE, purgeKeys: [asked.get("key")!], id: asked.get("id"), by, reason: victim });
      }
      case "/stamp":
        await lease.renew(background, null);
        return lease.stamp();
      case "/check": {
        const stamp = { logId: asked.get("logId")!, seq: Number(asked.get("seq")) };
        const stored = { key: "http://h/", stamp, givenPurgeKeys: [asked.get("key")!] } as unknown as StoredHead;
        const isUsable = lease.isUsable(systemClock.now(), null);
        return { isUsable, answer: lease.check(stored, isUsable) };
      }
      case "/purges":
        return log.list(null, 500);
      default:
        return null;
    }
  };
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const found = await answer(new URL(request.url!, "http://localhost"), response);
      if (found !== undefined) response.end(JSON.stringify(found));
    } catch (cause) {
      response.writeHead(500).end(String(cause));
    }
  };
  const servers: Server[] = [];
  const listenOn = async (handle: object) => {
    const server = createServer((request, response) => void take(request, response));
    servers.push(server);
    await once(server.listen(handle), "listening");
  };
  return {
    learn: async (delta) => !isDeaf && lease.learn(delta, background),
    listen: async (sockets) => {
      if (asksFirst) await line.ask("listen");
      const path = `${folder}/${process.pid}.sock`;
      rmSync(path, { force: true }); // of a process that was killed, whose id is used again
      await listenOn({ path });
      for (const handle of sockets.flatMap(({ handles }) => handles)) await listenOn(handle);
    },
    drain: async () => {
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function cpuMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

const PURGE: Omit<NewPurge, "purgeKeys"> = {
  id: null,
  content: "",
  accepted: { urls: 0, tags: 1, prefixes: 0, hosts: 0, everything: false },
  repeatAfterMs: null,
  reason: null,
  by: "test",
};
