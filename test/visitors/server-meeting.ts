import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { nodeBodies } from "../../server/bodies/node-bodies.ts";
import { CacheFolder } from "../../server/disk/cache-folder.ts";
import { DiskTier } from "../../server/disk/disk-tier.ts";
import { Janitor } from "../../server/disk/janitor.ts";
import { Listener } from "../../server/listener/listener.ts";
import { sqlOver } from "../../server/log/node-sql.ts";
import { UndiciOrigin } from "../../server/origin/undici-origin.ts";
import { startNodeIsolate } from "../../server/serve/node-isolate.ts";
import { systemClock } from "../../server/system-clock.ts";
import { configuredTokens } from "../../worker/control/tokens.ts";
import type { RunningIsolate } from "../../worker/isolate.ts";
import type { Clock } from "../../worker/ports.ts";
import { SqlLedger } from "../../worker/purges/log/sql-ledger.ts";
import { SqlPurgeLog } from "../../worker/purges/log/sql-purge-log.ts";
import { compileSite } from "../../worker/site/site.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { exchange } from "../engine/runtime-engine.ts";
import { TOKEN } from "../engine/scenario.ts";
import { logOf } from "../engine/server-engine.ts";
import type { Meet } from "./meet.ts";
import type { StartRawEdge } from "./raw-meetings.ts";
import { underOneName } from "./runtime-meeting.ts";
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
  readonly #folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  readonly #janitor: Janitor;
  readonly #tier: DiskTier;

  /** `clock` is that of the isolate. */
  constructor(way: ServerWay, clock: Clock) {
    this.#clock = clock;
    const folder = CacheFolder.open(this.#folder);
    this.#janitor = new Janitor(folder, 1024 ** 3);
    const say = (line: string) => this.warnings.push(line);
    this.#tier = new DiskTier({ folder, janitor: this.#janitor.connect(), now: () => clock.now(), say });
    this.listener = new Listener({
      isolate: {
        fetch: (incoming) =>
          this.#isolate!.fetch({ ...incoming, clientAddress: CLIENT_ADDRESS, peerAddress: CLIENT_ADDRESS }),
      },
      bodies: nodeBodies,
      warn: (line) => this.warnings.push(line),
      usesFastHits: way === "fast",
    });
  }

  async listen(): Promise<URL> {
    const { port } = (await this.listener.listen({ host: "127.0.0.1", port: 0 })) as AddressInfo;
    return new URL(`http://127.0.0.1:${port}`);
  }

  /** Begins anew, with empty memory, an empty log and other rules. What is on disk stays there. */
  async begin(input: SiteInput): Promise<void> {
    await this.#origin?.close();
    const site = compileSite(input, { hosts: null });
    const address = { url: site.originUrl, socketPath: null };
    const origin = new UndiciOrigin({ address, timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies });
    this.#origin = origin;
    const sql = sqlOver(new DatabaseSync(":memory:"));
    this.#isolate = startNodeIsolate(site, {
      clock: this.#clock,
      random: Math.random,
      sharedTier: this.#tier,
      origin,
      log: logOf(new SqlPurgeLog(sql, {}, this.#clock.now, randomUUID), new SqlLedger(sql, this.#clock.now)),
      isolate: randomUUID(),
      tokens: configuredTokens({ TIDEMARK_TOKEN: TOKEN, acceptsWeakTokens: true }, () => undefined),
      write: () => undefined,
    });
  }

  /** Resolves when all that goes on behind answers has ended. */
  async idle(): Promise<void> {
    await this.listener.work.idle();
    await this.#tier.settled();
  }

  /** Throws if the listener has seen a bug. */
  async stop(): Promise<void> {
    await this.listener.close(0);
    await this.#origin?.close();
    await this.#tier.settled();
    await this.#janitor.close();
    rmSync(this.#folder, { recursive: true });
    if (this.warnings.length > 0) throw new Error(`the listener warned: ${this.warnings.join("; ")}`);
  }
}

/** Visitors of the server, over sockets, with a public host for each meeting. */
export class ServerMeetings {
  readonly #witness = new Witness();
  readonly #agent = new Agent({ keepAlive: false });
  readonly #way: ServerWay;
  #server!: MeetingServer;
  #edge!: URL;
  #origin = "";
  #meetings = 0;

  constructor(way: ServerWay) {
    this.#way = way;
  }

  /** How many hits were answered inside Node's parser. */
  get fastHits(): number {
    return this.#server.listener.fastHits;
  }

  async start(): Promise<void> {
    this.#origin = await this.#witness.start();
    this.#server = new MeetingServer(this.#way, systemClock);
    this.#edge = await this.#server.listen();
  }

  readonly meet: Meet = async (site, origin) => {
    const host = `meeting-${++this.#meetings}.example.test`;
    this.#witness.answering = underOneName(host, origin);
    this.#witness.asked = 0;
    await this.#server.begin({ origin: this.#origin, ...site });
    return {
      send: async (request) => {
        const answer = await exchange(this.#edge, this.#agent, { ...request, host });
        await this.#server.idle(); // what is written behind the answer ends before the next visitor comes
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
    await server.begin({ origin, secondLook: false });
    return { url, stop: () => server.stop() };
  };
}
