import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { Listener } from "../../../server/connections/listener.ts";
import { CacheFolder } from "../../../server/disk/cache-folder.ts";
import { DiskTier } from "../../../server/disk/disk-tier.ts";
import { Janitor } from "../../../server/disk/eviction/janitor.ts";
import { UndiciOrigin } from "../../../server/origin/undici-origin.ts";
import { startNodeIsolate } from "../../../server/program/node-isolate.ts";
import { systemClock } from "../../../server/system-clock.ts";
import { Children } from "../../../server/tiers/children.ts";
import { ParentOrigin } from "../../../server/tiers/parent-origin.ts";
import { rulesFingerprint } from "../../../server/tiers/rules-fingerprint.ts";
import { readNamedTokens } from "../../../worker/control/access/named-tokens.ts";
import { configuredTokens } from "../../../worker/control/access/tokens.ts";
import type { RunningIsolate } from "../../../worker/isolate.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import { compileSite } from "../../../worker/site/site.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { chances } from "../../engine/chances.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { TOKEN } from "../../engine/scenario.ts";
import { ServerLog } from "../../engine/server/server-log.ts";
import { certificate } from "../../server/connections/tls-listener.ts";
import { PARENT_TOKEN, PARENT_TOKENS } from "../../server/tiers/parent-tokens.ts";
import type { StartRawEdge } from "../raw/raw-meetings.ts";
import { Witness } from "../witness.ts";
import { Http2Client } from "./http2-exchange.ts";
import type { Meet } from "./meet.ts";
import { underOneName } from "./runtime-meeting.ts";

/**
 * `fast`: plain requests are answered without Node's objects. `plain`: no request is. `tls`: the fast way over TLS.
 * `http2`: in HTTP/2. `tier`: by a child, which asks a parent.
 */
export type ServerWay = "fast" | "plain" | "tls" | "http2" | "tier";

const CERTIFICATE = certificate(["localhost"]);

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
  readonly #scheme: "http" | "https";
  /** The parent, where the server is a child. */
  readonly #parent: MeetingServer | null;
  #parentUrl: string | undefined;
  #children: Children | undefined;

  /** `clock` is that of the isolate. */
  constructor(way: ServerWay, clock: Clock) {
    this.#clock = clock;
    this.#parent = way === "tier" ? new MeetingServer("fast", clock) : null;
    const folder = CacheFolder.open(this.#folder);
    this.#janitor = new Janitor(folder, 1024 ** 3, { maxFiles: 4096 });
    const say = (line: string) => this.warnings.push(line);
    const now = () => clock.now();
    this.#tier = new DiskTier({ folder, janitor: this.#janitor.connect(), now, monotonicNow: now, say });
    this.listener = new Listener({
      isolate: {
        fetch: (incoming) => {
          // The scheme of the memory engine, so that keys and fields of both can be compared.
          const url = incoming.url.replace(/^https:/, "http:");
          return this.#isolate!.fetch({ ...incoming, url, clientAddress: CLIENT_ADDRESS, peerAddress: CLIENT_ADDRESS });
        },
      },
      bodies: nodeBodies,
      children: { answer: (...asked) => this.#children?.answer(...asked) ?? null },
      warn: (line) => this.warnings.push(line),
      usesFastAnswers: way !== "plain",
      tls: { certificates: [CERTIFICATE], ticketSecret: "secret" },
    });
    this.#scheme = way === "tls" || way === "http2" ? "https" : "http";
  }

  async listen(): Promise<URL> {
    const scheme = this.#scheme;
    const { port } = (await this.listener.listen({ host: "127.0.0.1", port: 0, scheme })) as AddressInfo;
    return new URL(`${scheme}://127.0.0.1:${port}`);
  }

  /** Begins anew, with empty memory, an empty log and other rules. What is on disk stays there. */
  async begin(input: SiteInput, log = new ServerLog(() => this.#clock.now()).calls): Promise<void> {
    await this.#origin?.close();
    const site = compileSite(input, { hosts: null });
    this.#parentUrl ??= (await this.#parent?.listen())?.origin;
    await this.#parent?.begin(input, log);
    const address = { url: this.#parentUrl ?? site.originUrl, socketPath: null };
    const connection = new UndiciOrigin({ address, timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies });
    this.#origin = connection;
    const rules = rulesFingerprint(site);
    const tier = {
      rules,
      node: randomUUID(),
      now: () => this.#clock.now(),
      say: (line: string) => this.warnings.push(line),
    };
    const originFields = site.originFields.map(([name]) => name.toLowerCase());
    const origin =
      this.#parent === null
        ? connection
        : new ParentOrigin({ ...tier, parent: connection, origin: null, token: PARENT_TOKEN, originFields });
    const isolate = startNodeIsolate(site, {
      clock: this.#clock,
      random: chances(1),
      sharedTier: this.#tier,
      origin,
      log,
      isolate: randomUUID(),
      tokens: configuredTokens(
        { TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS: PARENT_TOKENS, acceptsWeakTokens: true },
        () => undefined,
        readNamedTokens,
      ),
      write: () => undefined,
    });
    const { hiddenFields, limits } = site;
    const ofChildren = { isolate, hiddenFields, maxFieldBytes: limits.responseFieldBytes, clock: this.#clock };
    this.#children = new Children({ ...tier, ...ofChildren });
    this.#isolate = isolate;
    // A server answers when its view has reached the log's head.
    await isolate.learn(await log.read(null, 1000), { run: () => undefined });
  }

  /** Resolves when all that goes on behind answers has ended. */
  async idle(): Promise<void> {
    await this.listener.work.idle();
    await this.#tier.settled();
    await this.#parent?.idle();
  }

  /** Throws if the listener has seen a bug. */
  async stop(): Promise<void> {
    await this.listener.close(0);
    await this.#origin?.close();
    await this.#tier.settled();
    await this.#janitor.close();
    rmSync(this.#folder, { recursive: true });
    await this.#parent?.stop();
    if (this.warnings.length > 0) throw new Error(`the listener warned: ${this.warnings.join("; ")}`);
  }
}

/** Visitors of the server, over sockets, with a public host for each meeting. */
export class ServerMeetings {
  readonly #witness = new Witness();
  readonly #way: ServerWay;
  #agent!: Agent;
  #http2!: Http2Client;
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
    this.#server = new MeetingServer(this.#way, stoppedClock());
    this.#edge = await this.#server.listen();
    const isEncrypted = this.#edge.protocol === "https:";
    this.#agent = isEncrypted ? new HttpsAgent({ rejectUnauthorized: false }) : new Agent({ keepAlive: false });
    this.#http2 = new Http2Client(this.#edge);
  }

  readonly meet: Meet = async (site, origin) => {
    const host = `meeting-${++this.#meetings}.example.test`;
    this.#witness.answering = underOneName(host, origin);
    this.#witness.asked = 0;
    await this.#server.begin({ origin: this.#origin, ...site });
    return {
      send: async (request) => {
        const inHttp1 = () => exchange(this.#edge, this.#agent, { ...request, host });
        const answer = this.#way === "http2" ? await this.#http2.exchange({ ...request, host }) : await inHttp1();
        await this.#server.idle(); // what is written behind the answer ends before the next visitor comes
        return answer;
      },
      asked: () => this.#witness.asked,
      stop: async () => undefined,
    };
  };

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#http2.destroy();
    await this.#server.stop();
    await this.#witness.stop();
  }
}

/** Time stands still, so that pages stay fresh and leases do not end, however long a meeting takes. */
function stoppedClock(): Clock {
  const now = Date.now();
  return { ...systemClock, now: () => now };
}

/** The server for visitors who write bytes to their connections. */
export function onServer(way: ServerWay): StartRawEdge {
  return async (origin) => {
    const server = new MeetingServer(way, stoppedClock());
    const url = await server.listen();
    // Without second looks, so that every request to the origin belongs to an answer.
    await server.begin({ origin, secondLook: false });
    return { url, stop: () => server.stop() };
  };
}
