import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { nodeBodies } from "../../server/bodies/node-bodies.ts";
import { Listener } from "../../server/listener/listener.ts";
import { sqlOver } from "../../server/log/node-sql.ts";
import { UndiciOrigin } from "../../server/origin/undici-origin.ts";
import { startNodeIsolate } from "../../server/serve/node-isolate.ts";
import { systemClock } from "../../server/system-clock.ts";
import { configuredTokens } from "../../worker/control/tokens.ts";
import type { RunningIsolate } from "../../worker/isolate.ts";
import type { Clock } from "../../worker/ports.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { compileSite } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { exchange } from "../engine/runtime-engine.ts";
import { HOST, TOKEN } from "../engine/scenario.ts";
import { logOf } from "../engine/server-engine.ts";
import { TestTier } from "../engine/test-tier.ts";
import type { Meet } from "./meet.ts";
import type { StartRawEdge } from "./raw-meetings.ts";
import { Witness } from "./witness.ts";

/** `fast`: hits are answered inside Node's parser. `plain`: all answers go through Node's own objects. */
export type ServerWay = "fast" | "plain";

const CLIENT_ADDRESS = "192.0.2.7";

/** The edge as a server on this machine, whose isolate is replaced for each meeting. */
class MeetingServer {
  readonly listener: Listener;
  readonly warnings: string[] = [];
  readonly #clock: Clock;
  #isolate: RunningIsolate | undefined;
  #origin: UndiciOrigin | undefined;

  /** `clock` is that of the isolate. */
  constructor(way: ServerWay, clock: Clock) {
    this.#clock = clock;
    this.listener = new Listener({
      isolate: { fetch: (incoming) => this.#isolate!.fetch({ ...incoming, clientAddress: CLIENT_ADDRESS }) },
      bodies: nodeBodies,
      warn: (line) => this.warnings.push(line),
      usesFastHits: way === "fast",
    });
  }

  async listen(): Promise<URL> {
    const { port } = (await this.listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
    return new URL(`http://127.0.0.1:${port}`);
  }

  /** Begins anew: with empty tiers, an empty log and other rules. `hosts` is `null` for any. */
  async begin(input: SiteInput, hosts: readonly string[] | null): Promise<void> {
    await this.#origin?.close();
    const site = compileSite(input, { hosts });
    const address = { url: site.originUrl, socketPath: null };
    const origin = new UndiciOrigin({ address, timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies });
    this.#origin = origin;
    this.#isolate = startNodeIsolate(site, {
      clock: this.#clock,
      random: Math.random,
      sharedTier: new TestTier(),
      origin,
      log: logOf(new SqlPurgeLog(sqlOver(new DatabaseSync(":memory:")), {}, this.#clock.now, randomUUID)),
      tokens: configuredTokens({ TIDEMARK_TOKEN: TOKEN, acceptsWeakTokens: true }, () => undefined),
      write: () => undefined,
    });
  }

  /** Throws if the listener has seen a bug. */
  async stop(): Promise<void> {
    await this.listener.close(0);
    await this.#origin?.close();
    if (this.warnings.length > 0) throw new Error(`the listener warned: ${this.warnings.join("; ")}`);
  }
}

/** Visitors of the server, over sockets. */
export class ServerMeetings {
  readonly #witness = new Witness();
  readonly #agent = new Agent({ keepAlive: false });
  readonly #server: MeetingServer;
  #edge!: URL;
  #origin = "";

  constructor(way: ServerWay) {
    this.#server = new MeetingServer(way, systemClock);
  }

  /** How many hits were answered inside Node's parser. */
  get fastHits(): number {
    return this.#server.listener.fastHits;
  }

  async start(): Promise<void> {
    this.#origin = await this.#witness.start();
    this.#edge = await this.#server.listen();
  }

  readonly meet: Meet = async (site, origin) => {
    this.#witness.answering = origin;
    this.#witness.asked = 0;
    await this.#server.begin({ origin: this.#origin, ...site }, [HOST]);
    return {
      send: async (request) => {
        const answer = await exchange(this.#edge, this.#agent, request);
        await this.#server.listener.work.idle(); // what is written behind the answer ends before the next visitor comes
        return answer;
      },
      asked: () => this.#witness.asked,
      stop: async () => undefined,
    };
  };

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#server.stop();
    await this.#witness.stop();
  }
}

/** The server for visitors who write bytes to their connections. */
export function onServer(way: ServerWay): StartRawEdge {
  return async (origin) => {
    const now = Date.now();
    // Time stands still, so that what is stored stays fresh however many messages there are.
    const server = new MeetingServer(way, { ...systemClock, now: () => now });
    const url = await server.listen();
    // Without second looks, so that every request to the origin belongs to an answer.
    await server.begin({ origin, secondLook: false }, null);
    return { url, stop: () => server.stop() };
  };
}
