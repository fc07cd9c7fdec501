import { mkdtempSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { type Interim, ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { OriginNewsOffice } from "../../../server/origin/origin-news-office.ts";
import { UndiciOrigin } from "../../../server/origin/undici-origin.ts";
import { readNamedTokens } from "../../../worker/control/access/named-tokens.ts";
import { configuredTokens } from "../../../worker/control/access/tokens.ts";
import { compressionSettings } from "../../../worker/site/compression-settings.ts";
import { compileSite } from "../../../worker/site/site.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";
import { ADDRESS_FIELD, COUNTRY_FIELD } from "../beginning.ts";
import { decodingExchange } from "../decoded-body.ts";
import type { Engine } from "../engine.ts";
import { heldIn } from "../held-in.ts";
import { ManualClock } from "../memory/manual-clock.ts";
import { CallsUnderway } from "../memory/quiet-tier.ts";
import { exchange } from "../runtime/runtime-engine.ts";
import { BEGINNING, type SiteChange, siteAt, TOKEN } from "../scenario.ts";
import { ServerLog } from "./server-log.ts";
import { ServerWorker } from "./server-worker.ts";

/** More than any scenario stores. The sketch of the janitor takes 4 MiB otherwise, which is much for a scenario. */
const MOST_FILES = 4096;

/**
 * The edge as a server on this machine: the real listeners, origin, disk and log over sockets, on a clock that is told. Each
 * isolate that a scenario names is a worker; they share the folder of the pages and the log.
 */
export async function startServerEngine(input: SiteChange, TIDEMARK_TOKENS?: string): Promise<Engine> {
  const clock = new ManualClock(BEGINNING);
  const now = () => clock.now();
  const scripted = new ScriptedOrigin(now);
  await scripted.comeUp();
  const site = compileSite(siteAt(scripted.url, input), {});
  const { originUrl, limits } = site;
  const address = { url: originUrl, socketPath: null };
  const origin = new UndiciOrigin({ address, timeoutMs: limits.originTimeoutMs, bodies: nodeBodies });
  const log = new ServerLog(now);
  const bugs: unknown[] = [];
  const say = (line: string) => void bugs.push(line);
  const folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
  const cache = CacheFolder.open(folder);
  const janitor = new Janitor(cache, 1024 ** 3, { maxFiles: MOST_FILES });
  const compression = compressionSettings(input);
  const ask = compression ? decodingExchange : exchange;
  const calls = new CallsUnderway();
  const news = new OriginNewsOffice();
  const tokens = configuredTokens(
    { TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS, acceptsWeakTokens: true },
    () => undefined,
    readNamedTokens,
  );
  let sent = 0;
  let arrived = 0;
  let onArrival: () => void = () => undefined;
  const start = () =>
    ServerWorker.start({
      ...{ site, compression, clock, origin, tokens, calls, log: log.calls, line: news.connect() },
      tier: new DiskTier({ folder: cache, janitor: janitor.connect(), now, monotonicNow: now, say }),
      warn: say,
      arrived: () => {
        arrived++;
        onArrival();
      },
    });
  const workers = new Map<string, ReturnType<typeof start>>();
  const workerNamed = (name: string) => heldIn(workers, name, start);
  await workerNamed("a");
  const all = async () => (await Promise.all(workers.values())).map(({ worker }) => worker);
  const finishWork = async () => {
    for (const worker of await all()) await worker.finishWork();
  };
  const agent = new Agent({ keepAlive: false });
  return {
    name: "server",
    get seen() {
      return scripted.seen;
    },
    send: async ({ country, address, isolate = "a", ...request }) => {
      const fields = {
        ...request.fields,
        ...(country !== undefined && { [COUNTRY_FIELD]: country }),
        ...(address !== undefined && { [ADDRESS_FIELD]: address }),
      };
      sent++;
      const { edge } = await workerNamed(isolate);
      const interims: Interim[] = [];
      const onInterim = (status: number, fields: Readonly<Record<string, string>>) =>
        void interims.push(Object.keys(fields).length === 0 ? { status } : { status, fields });
      const answer = await ask(edge, agent, { ...request, fields, onInterim });
      return { ...answer, interims };
    },
    arrival: async () => {
      while (arrived < sent) await new Promise<void>((resolve) => (onArrival = resolve));
      await calls.none();
    },
    settle: async (promise) => {
      const settled = await promise;
      await calls.none();
      return settled;
    },
    advance: async (ms) => {
      const end = clock.now() + ms;
      for (let ms = log.nextDueInMs(); ms !== null && clock.now() + ms <= end; ms = log.nextDueInMs()) {
        await clock.advance(Math.max(0, ms));
        log.runDue();
      }
      await clock.advance(end - clock.now());
    },
    reply: (target, replies) => scripted.reply(target, ...replies),
    release: (hold) => scripted.release(hold),
    originSees: (target, count) => scripted.waitUntilSeen(target, count),
    originDown: () => scripted.goDown(),
    originUp: () => scripted.comeUp(),
    restartIsolate: async () => {
      await finishWork();
      for (const worker of await all()) worker.restart();
    },
    finishWork,
    emptySharedTier: async () => {
      await finishWork();
      for (const each of cache.folders) for (const file of readdirSync(each)) unlinkSync(join(each, file));
    },
    setLogReachable: (reachable) => {
      log.isReachable = reachable;
    },
    makeLogAnew: async () => log.makeAnew(),
    stop: async () => {
      agent.destroy();
      await scripted.goDown();
      for (const worker of await all()) await worker.stop();
      await origin.close();
      await janitor.close();
      log.end();
      rmSync(folder, { recursive: true });
      if (bugs.length > 0) throw new Error(`the listener warned: ${bugs.join("; ")}`);
    },
  };
}
