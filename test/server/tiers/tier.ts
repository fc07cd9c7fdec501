import { randomUUID } from "node:crypto";
import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import { ScriptedOrigin } from "../../../local/cdn/scripted-origin.ts";
import { nodeBodies } from "../../../server/bodies/node-bodies.ts";
import { Listener } from "../../../server/connections/listener.ts";
import type { LogCalls } from "../../../server/log/log-messages.ts";
import { UndiciOrigin } from "../../../server/origin/undici-origin.ts";
import { startNodeIsolate } from "../../../server/program/node-isolate.ts";
import { memoryAlone } from "../../../server/startup/memory-alone.ts";
import { Children } from "../../../server/tiers/children.ts";
import { connectToParent, ParentOrigin } from "../../../server/tiers/parent-origin.ts";
import { withRoomForTiers } from "../../../server/tiers/room-for-tiers.ts";
import { rulesFingerprint } from "../../../server/tiers/rules-fingerprint.ts";
import { readNamedTokens } from "../../../worker/control/access/named-tokens.ts";
import { configuredTokens } from "../../../worker/control/access/tokens.ts";
import type { LearningIsolate } from "../../../worker/learning-isolate.ts";
import type { Clock } from "../../../worker/ports/clock.ts";
import type { Origin, OriginAnswer, OriginRequest } from "../../../worker/ports/origin.ts";
import { compileSite, type SiteOverrides } from "../../../worker/site/site.ts";
import type { SiteInput } from "../../../worker/site/site-input.ts";
import { chances } from "../../engine/chances.ts";
import { ManualClock } from "../../engine/memory/manual-clock.ts";
import { exchange } from "../../engine/runtime/runtime-engine.ts";
import { BEGINNING, type ClientRequest, HOST, TOKEN } from "../../engine/scenario.ts";
import { ServerLog } from "../../engine/server/server-log.ts";
import { PARENT_TOKEN, PARENT_TOKENS } from "./parent-tokens.ts";

/** The rules of a site, without its origin. */
export type Rules = Omit<Partial<SiteInput>, "origin">;

export interface NodeOptions {
  /** Default: none, so that it asks the origin. */
  readonly parent?: () => string;
  /** Whether a node with a parent may ask the origin, too. Default: no. */
  readonly fallsBack?: boolean;
  readonly token?: string;
  readonly rules?: Rules;
  /** What outranks the rules at this node. Default: nothing. */
  readonly overrides?: SiteOverrides;
  /** The most requests at the origin. Default: without a limit. */
  readonly concurrency?: number;
  /** Default: the tier's. */
  readonly log?: SharedLog;
  /** Default: a free one. */
  readonly port?: number;
}

/** A purge log in memory that several nodes read, each over a connection that can be cut. */
export class SharedLog {
  readonly #calls: LogCalls;

  constructor(clock: Clock) {
    this.#calls = new ServerLog(() => clock.now()).calls;
  }

  connect(isCut: () => boolean): LogCalls {
    const { read, append, ...rest } = this.#calls;
    const over = <A extends unknown[], R>(call: (...given: A) => Promise<R>) => {
      return async (...given: A) => {
        if (isCut()) throw new Error("the log cannot be reached");
        return call(...given);
      };
    };
    return { ...rest, read: over(read), append: over(append) };
  }
}

/** A server of the tier: the real listener, isolate and connections to the next server. */
export class TierNode {
  /** What is said of the tier, and what the isolate says. */
  readonly said: string[] = [];
  readonly reported: string[] = [];
  readonly name = randomUUID().slice(0, 8);
  /** What it has sent to its parent. */
  readonly asked: OriginRequest[] = [];
  /** While it is true, the log cannot be reached from here. */
  isCutOff = false;
  /** What requests to the parent come to in place of its answer; `null` for the answer. */
  failsBy: Promise<OriginAnswer> | null = null;
  readonly #listener: Listener;
  readonly #isolate: LearningIsolate;
  readonly #connections: UndiciOrigin[] = [];
  readonly #agent = new Agent({ keepAlive: false });
  #port = 0;

  constructor(originUrl: string, shared: SharedLog, clock: Clock, options: NodeOptions) {
    const { parent, token = PARENT_TOKEN, rules: input = {}, concurrency } = options;
    const asked = { url: originUrl, ...(concurrency !== undefined && { concurrency }) };
    const site = compileSite({ origin: asked, hosts: [HOST], ...input }, options.overrides ?? {});
    const rules = rulesFingerprint(site);
    const to = (url: string) => {
      const address = { url, socketPath: null };
      return { address, timeoutMs: site.limits.originTimeoutMs, bodies: nodeBodies };
    };
    const kept = (connection: UndiciOrigin) => {
      this.#connections.push(connection);
      return connection;
    };
    const connect = (url: string) => kept(new UndiciOrigin(to(url)));
    const say = (line: string) => void this.said.push(line);
    const now = () => clock.now();
    const origin = (): Origin => {
      if (parent === undefined) return connect(originUrl);
      const connection = kept(connectToParent(to(parent())));
      return new ParentOrigin({
        parent: {
          url: connection.url,
          fetch: (request) => {
            this.asked.push(request);
            return this.failsBy ?? connection.fetch(request);
          },
        },
        origin: options.fallsBack ? connect(originUrl) : null,
        token,
        node: this.name,
        rules,
        originFields: site.originFields.map(([name]) => name.toLowerCase()),
        waitsMs: connection.timeoutMs,
        now,
        say,
      });
    };
    // The address of a node that is its own parent is known only once it listens.
    let made: Origin | undefined;
    const next = () => (made ??= origin());
    this.#isolate = startNodeIsolate(parent === undefined ? site : withRoomForTiers(site), {
      clock,
      random: chances(1),
      sharedTier: memoryAlone,
      origin: {
        url: parent && !options.fallsBack ? "http://parent.test" : originUrl,
        isCache: parent !== undefined,
        fetch: (asked) => next().fetch(asked),
      },
      log: (options.log ?? shared).connect(() => this.isCutOff),
      tokens: configuredTokens({ TIDEMARK_TOKEN: TOKEN, TIDEMARK_TOKENS: PARENT_TOKENS }, say, readNamedTokens),
      isolate: randomUUID(),
      write: (line) => void this.reported.push(line),
    });
    const { hiddenFields, limits } = withRoomForTiers(site);
    this.#listener = new Listener({
      isolate: this.#isolate,
      bodies: nodeBodies,
      warn: say,
      usesFastAnswers: true,
      children: new Children({
        isolate: this.#isolate,
        node: this.name,
        rules,
        hiddenFields,
        maxFieldBytes: limits.responseFieldBytes,
        clock,
        say,
      }),
    });
  }

  /** Begins to accept connections, as a server does: when its view has reached the log's head. */
  async listen(port: number, log: SharedLog): Promise<this> {
    const head = await log.connect(() => false).read(null, 1000);
    await this.#isolate.learn(head, { run: () => undefined });
    this.#port = ((await this.#listener.listen({ host: "127.0.0.1", port })) as AddressInfo).port;
    return this;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  send(request: ClientRequest) {
    return exchange(new URL(this.url), this.#agent, { host: HOST, ...request });
  }

  get(path: string, fields: Readonly<Record<string, string>> = {}) {
    return this.send({ path, fields });
  }

  /** A visitor comes after the pause, and the parent turns out to answer again. */
  async untilItAsksItsParentAgain(): Promise<void> {
    await this.get("/after-the-pause");
    while (!this.said.at(-1)?.includes("answers again")) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Purges, and resolves to the token of the receipt. */
  async purge(items: object): Promise<string> {
    const { body } = await this.send({
      method: "POST",
      path: "/_tidemark/purge",
      fields: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(items),
    });
    return (JSON.parse(body) as { token: string }).token;
  }

  /** Resolves when all that goes on behind answers has ended. */
  idle(): Promise<void> {
    return this.#listener.work.idle();
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#listener.close(0);
    for (const connection of this.#connections) await connection.close();
  }
}

/** An origin, a parent and its children, over sockets, on a clock that is told. */
export class Tier {
  readonly clock = new ManualClock(BEGINNING);
  readonly origin = new ScriptedOrigin(() => this.clock.now());
  readonly log = new SharedLog(this.clock);
  readonly #nodes: TierNode[] = [];

  async start(options: NodeOptions = {}): Promise<TierNode> {
    const node = await new TierNode(this.origin.url, this.log, this.clock, options).listen(
      options.port ?? 0,
      options.log ?? this.log,
    );
    this.#nodes.push(node);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.stop()));
    await this.origin.goDown();
  }
}
