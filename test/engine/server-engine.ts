import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ScriptedOrigin } from "../../cdn/scripted-origin.ts";
import { nodeBodies } from "../../server/bodies/node-bodies.ts";
import { NodeCompression } from "../../server/compression/node-compression.ts";
import { CacheFolder } from "../../server/disk/cache-folder.ts";
import { DiskTier } from "../../server/disk/disk-tier.ts";
import { Janitor } from "../../server/disk/janitor.ts";
import { Listener } from "../../server/listener/listener.ts";
import type { LogCalls } from "../../server/log/log-messages.ts";
import { sqlOver } from "../../server/log/node-sql.ts";
import { UndiciOrigin } from "../../server/origin/undici-origin.ts";
import { startNodeIsolate } from "../../server/serve/node-isolate.ts";
import { configuredTokens } from "../../worker/control/tokens.ts";
import type { RunningIsolate } from "../../worker/isolate.ts";
import { SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { compressionSettings } from "../../worker/site/compression-settings.ts";
import { compileSite } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { TEMPORARY_ROOT } from "../suite/temporary-root.ts";
import { ADDRESS_FIELD, CLIENT_ADDRESS, COUNTRY_FIELD } from "./beginning.ts";
import { decodingExchange } from "./decoded-body.ts";
import type { Engine } from "./engine.ts";
import { ManualClock } from "./manual-clock.ts";
import { QuietTier } from "./quiet-tier.ts";
import { exchange } from "./runtime-engine.ts";
import { BEGINNING, HOST, TOKEN } from "./scenario.ts";

/** The edge as a server on this machine: the real listener, origin and log over sockets, on a clock that is told. */
export async function startServerEngine(
  input: Omit<Partial<SiteInput>, "origin">,
  TIDEMARK_TOKENS?: string,
): Promise<Engine> {
  const clock = new ManualClock(BEGINNING);
  const scripted = new ScriptedOrigin(() => clock.now());
  await scripted.comeUp();
  const site = compileSite({ origin: scripted.url, hosts: [HOST], ...input }, {});
  const { originUrl, limits } = site;
  const address = { url: originUrl, socketPath: null };
  const origin = new UndiciOrigin({ address, timeoutMs: limits.originTimeoutMs, bodies: nodeBodies });
  const sql = sqlOver(new DatabaseSync(":memory:"));
  const log = new SqlPurgeLog(sql, {}, () => clock.now(), randomUUID);
  const ledger = new SqlLedger(sql, () => clock.now());
  const bugs: unknown[] = [];
  const folder = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-"));
  const cache = CacheFolder.open(folder);
  const janitor = new Janitor(cache, 1024 ** 3);
  const line = janitor.connect();
  const now = () => clock.now();
  const tier = new DiskTier({ folder: cache, janitor: line, now, monotonicNow: now, say: (said) => bugs.push(said) });
  const disk = new QuietTier(tier);
  const compresses = compressionSettings(input);
  const ask = compresses ? decodingExchange : exchange;
  const start = () =>
    startNodeIsolate(site, {
      compression: compresses
        ? new NodeCompression({ settings: compresses, memoryBytes: limits.memoryBytes, files: tier })
        : undefined,
      clock,
      random: Math.random,
      sharedTier: disk,
      origin,
      log: logOf(log, ledger),
      tokens: configuredTokens({ TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS, acceptsWeakTokens: true }, () => undefined),
      isolate: randomUUID(),
      write: () => undefined,
    });
  let isolate = start();
  let sent = 0;
  let arrived = 0;
  let onArrival: () => void = () => undefined;
  const listener = new Listener({
    // The client's address and country are told by the scenario, as the other platforms have them told.
    isolate: toldByScenario({
      fetch: (incoming) => {
        arrived++;
        onArrival();
        return isolate.fetch(incoming);
      },
    }),
    bodies: nodeBodies,
    warn: (line) => bugs.push(line),
    usesFastAnswers: true,
  });
  const { port } = (await listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
  const edge = new URL(`http://127.0.0.1:${port}`);
  const agent = new Agent({ keepAlive: false });
  const finishWork = async () => {
    await listener.work.idle();
    await tier.settled();
  };
  return {
    name: "server",
    get seen() {
      return scripted.seen;
    },
    send: ({ country, address, isolate: named, ...request }) => {
      if (named !== undefined) throw new Error("one listener of the server is one isolate");
      const fields = {
        ...request.fields,
        ...(country !== undefined && { [COUNTRY_FIELD]: country }),
        ...(address !== undefined && { [ADDRESS_FIELD]: address }),
      };
      sent++;
      return ask(edge, agent, { ...request, fields });
    },
    arrival: async () => {
      while (arrived < sent) await new Promise<void>((resolve) => (onArrival = resolve));
      await disk.isQuiet();
    },
    settle: async (promise) => {
      const settled = await promise;
      await disk.isQuiet();
      return settled;
    },
    advance: async (ms) => {
      const end = clock.now() + ms;
      for (let due = log.nextDueAt(); due !== null && due <= end; due = log.nextDueAt()) {
        await clock.advance(Math.max(0, due - clock.now()));
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
      isolate = start();
    },
    finishWork,
    emptySharedTier: async () => {
      await finishWork();
      for (const each of cache.folders) for (const file of readdirSync(each)) unlinkSync(join(each, file));
    },
    stop: async () => {
      agent.destroy();
      await scripted.goDown();
      await listener.close(0);
      await origin.close();
      await tier.settled();
      await janitor.close();
      rmSync(folder, { recursive: true });
      if (bugs.length > 0) throw new Error(`the listener warned: ${bugs.join("; ")}`);
    },
  };
}

/** Takes country and address of the client from fields. */
function toldByScenario(isolate: RunningIsolate): RunningIsolate {
  return {
    fetch: (incoming) => {
      const { method, headers } = incoming.request;
      const country = headers.get(COUNTRY_FIELD);
      const address = headers.get(ADDRESS_FIELD);
      const clientAddress = address ?? CLIENT_ADDRESS;
      const told = { ...incoming, country, clientAddress, peerAddress: clientAddress };
      if (country === null && address === null) return isolate.fetch(told);
      const without = new Fields([...headers].filter(([name]) => name !== COUNTRY_FIELD && name !== ADDRESS_FIELD));
      return isolate.fetch({ ...told, request: { method, headers: without, body: null, bodyUsed: false } });
    },
  };
}

/** The calls of a log and a ledger that nobody has written to. */
export function logInMemory(now: () => number): LogCalls {
  const sql = sqlOver(new DatabaseSync(":memory:"));
  return logOf(new SqlPurgeLog(sql, {}, now, randomUUID), new SqlLedger(sql, now));
}

function logOf(log: SqlPurgeLog, ledger: SqlLedger): LogCalls {
  return {
    read: async (since, leaseMs, longestViewAgeMs, report) => {
      if (report !== undefined) ledger.take(report);
      return log.read(since, leaseMs, longestViewAgeMs);
    },
    append: async (purge) => log.append(purge),
    list: async (before, limit) => log.list(before, limit),
    find: async (seq) => log.find(seq),
    report: async (report) => ledger.take(report),
    readLedger: async (...asked) => JSON.stringify(ledger.read(...asked)),
  };
}
