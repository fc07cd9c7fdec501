import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { listenOnKeptPort } from "../runtime/kept-port.ts";
import { checkReplies } from "./check-options.ts";
import { Lifecycle } from "./lifecycle.ts";

/** One reply of an origin. It has only the fields named here, `Date`, and those that frame the body. */
export interface Reply {
  /** The status: 200 to 999. Default 200. */
  readonly status?: number;
  /** The fields, by name. A list is sent as several lines of one field, an empty list as none. Default: none. */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
  /** The body, which is sent as UTF-8. Default: empty. */
  readonly body?: string;
  /** How the end of the body is marked. Default `length`; `close` ends the connection. */
  readonly framing?: "length" | "chunked" | "close";
  /** Close the connection after this many bytes of the body. Default: at its end. */
  readonly cutAfterBytes?: number;
  /**
   * Hold the reply back until `release` is called with this name. It is still the reply for the moment of the request.
   * Default: it is sent at once.
   */
  readonly hold?: string;
  /** Send the head and this many bytes of the body at once; `hold` then holds back the rest. Default: all is held back. */
  readonly bytesBeforeHold?: number;
  /** Interim responses that are sent at once, before the reply. Default: none. */
  readonly interims?: readonly Interim[];
  /** Close the connection instead of answering (`reset`), or in the middle of the head. Default: answer. */
  readonly failure?: "reset" | "cut-head";
}

/** An interim response, like `{ status: 103, fields: { link: "</a.css>; rel=preload" } }`. */
export interface Interim {
  /** The status: 102 to 199. */
  readonly status: number;
  /** The fields, by name. Default: none. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** A reply of a real server, which can also be slow. */
export interface ServerReply extends Reply {
  /** Wait this many real milliseconds before answering. Default 0. */
  readonly delayMs?: number;
}

/** The replies of a scripted origin by path: one for every request, or several in turn, the last of them from then on. */
export type OriginScript = Readonly<Record<string, ServerReply | readonly ServerReply[]>>;

/** A request that reached the origin. */
export interface SeenRequest {
  /** The method. */
  readonly method: string;
  /** Path and query as they were received. */
  readonly target: string;
  /** By name in lower case. */
  readonly fields: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as UTF-8, empty if there was none. */
  readonly body: string;
}

/** A real HTTP server that answers from a script and records every request. */
export class ScriptedOrigin {
  readonly #now: () => number;
  readonly #script: OriginScript;
  readonly #lifecycle: Lifecycle;
  readonly #replies = new Map<string, ServerReply[]>();
  #defaultReply: Reply | undefined;
  /** Replies in place of the default one; the newest, which is the last, answers. */
  readonly #standIns: Reply[] = [];
  #seen: SeenRequest[] = [];
  readonly #holds = new Map<string, PromiseWithResolvers<void>>();
  readonly #waiting = new Set<{ target: string; count: number; resolve: () => void }>();
  #server: Server | undefined;
  #port = 0;

  /** `now` is the time that goes into `Date`: epoch milliseconds. `script`: the first replies, by target. */
  constructor(now: () => number, script: OriginScript = {}, lifecycle: Lifecycle = new Lifecycle()) {
    this.#now = now;
    this.#script = script;
    this.#lifecycle = lifecycle;
    this.#replyByScript();
  }

  /** Its address: `http://127.0.0.1` with its port. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The requests that have reached it, oldest first. */
  get seen(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Sets the replies of a path, in turn; the last of them answers from then on. Throws a `TypeError` for a wrong one. */
  reply(target: string, ...replies: ServerReply[]): void {
    checkReplies("origin.reply", target, replies);
    this.#replies.set(target, replies);
  }

  /** Sets the reply for all paths that the script does not name. Default: a 404. */
  setDefaultReply(reply: Reply | undefined): void {
    this.#defaultReply = reply;
  }

  /**
   * While this work lasts, the default reply is this one.
   * @internal
   */
  async withDefaultReply<T>(reply: Reply, work: () => Promise<T>): Promise<T> {
    this.#standIns.push(reply);
    try {
      return await work();
    } finally {
      this.#standIns.splice(this.#standIns.indexOf(reply), 1);
    }
  }

  /**
   * The paths that the script names.
   * @internal
   */
  get targets(): readonly string[] {
    return [...this.#replies.keys()];
  }

  /** Accepts connections again, on the port that it had before. */
  async comeUp(): Promise<void> {
    await this.#lifecycle.change("origin.comeUp", () => this.#listen());
  }

  async #listen(): Promise<void> {
    if (this.#server) return;
    const server = createServer({ joinDuplicateHeaders: true }, (request, response) => {
      this.#answer(request, response).catch(() => request.socket.destroy()); // Node did not take the reply.
    });
    server.keepAliveTimeout = 60_000;
    this.#port = await listenOnKeptPort(server, this.#port);
    this.#server = server;
  }

  /** Closes all connections and refuses new ones. */
  async goDown(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /**
   * Cuts off held replies, and starts again with its first replies, without a record, and up. A part of `cdn.reset()`.
   * @internal
   */
  async reset(): Promise<void> {
    await this.goDown();
    this.#replies.clear();
    this.#defaultReply = undefined;
    this.#seen = [];
    this.#holds.clear();
    this.#replyByScript();
    await this.#listen();
  }

  #replyByScript(): void {
    for (const [target, replies] of Object.entries(this.#script)) {
      this.reply(target, ...(Array.isArray(replies) ? (replies as readonly ServerReply[]) : [replies as ServerReply]));
    }
  }

  /** Sends the replies with this hold. Throws a `TypeError` if no request waits for one. */
  release(hold: string): void {
    const held = this.#holds.get(hold);
    if (held === undefined) throw new TypeError(nobodyWaits(hold, [...this.#holds.keys()]));
    held.resolve();
    this.#holds.delete(hold);
  }

  /** Resolves once a target has been requested this many times. Rejects if the CDN is closed before. */
  waitUntilSeen(target: string, count: number): Promise<void> {
    if (this.countOf(target) >= count) return Promise.resolve();
    const seen = new Promise<void>((resolve) => this.#waiting.add({ target, count, resolve }));
    const waiting = this.#lifecycle.waitFor("origin.waitUntilSeen", seen);
    waiting.catch(() => undefined); // Nobody has to wait for it.
    return waiting;
  }

  /** How often a target has been requested. */
  countOf(target: string): number {
    return this.#seen.filter((request) => request.target === target).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request).catch(() => null);
    if (body === null) return; // The edge ended the request in the middle of its body.
    const reply = this.#take(request, body);
    const { status = 200, framing = "length", cutAfterBytes, hold, bytesBeforeHold } = reply;
    if (reply.delayMs) await sleep(reply.delayMs, undefined, { ref: false });
    for (const interim of reply.interims ?? []) response.socket?.write(interimText(interim));
    const bytes = Buffer.from(reply.body ?? "");
    const held = hold === undefined ? undefined : this.#held(hold).promise;
    if (held && bytesBeforeHold === undefined) await held;
    if (reply.failure) return closeEarly(response.socket, reply.failure);
    response.sendDate = false;
    response.setHeader("date", new Date(this.#now()).toUTCString());
    for (const [name, value] of Object.entries(reply.fields ?? {}))
      response.setHeader(name, value as string | string[]);
    const hasBody = status !== 204 && status !== 304;
    if (framing === "length" && hasBody) response.setHeader("content-length", bytes.length);
    if (framing === "close") {
      response.shouldKeepAlive = false;
      response.useChunkedEncodingByDefault = false;
    }
    response.writeHead(status);
    response.flushHeaders();
    if (held && bytesBeforeHold !== undefined) {
      response.write(bytes.subarray(0, bytesBeforeHold));
      await held;
    }
    const rest = bytes.subarray(bytesBeforeHold ?? 0, cutAfterBytes ?? bytes.length);
    if (cutAfterBytes === undefined) response.end(hasBody ? rest : undefined);
    else response.write(rest, () => response.socket?.destroy());
  }

  /** Records the request and chooses the reply that the script has for it at this moment. */
  #take(request: IncomingMessage, body: string): ServerReply {
    const target = request.url ?? "";
    this.#seen.push({ method: request.method ?? "", target, fields: { ...request.headers }, body });
    for (const waiting of this.#waiting) {
      if (this.countOf(waiting.target) < waiting.count) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
    const replies = this.#replies.get(target);
    const reply = replies && replies.length > 1 ? replies.shift() : replies?.[0];
    return (
      reply ??
      this.#standIns.at(-1) ??
      this.#defaultReply ?? { status: 404, body: `the script has nothing for ${target}` }
    );
  }

  #held(name: string): PromiseWithResolvers<void> {
    const hold = this.#holds.get(name) ?? Promise.withResolvers<void>();
    this.#holds.set(name, hold);
    return hold;
  }
}

function nobodyWaits(hold: string, known: readonly string[]): string {
  const others =
    known.length === 0 ? "none is held back" : `held back are ${known.map((each) => `"${each}"`).join(", ")}`;
  const advice = "Wait for the request before: await origin.waitUntilSeen(target, 1).";
  return `origin.release: no request waits for the hold "${hold}"; ${others}. ${advice}`;
}

function interimText({ status, fields = {} }: Interim): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Interim\r\n${lines.join("")}\r\n`;
}

function closeEarly(socket: Socket | null, failure: "reset" | "cut-head"): void {
  if (failure === "reset") socket?.resetAndDestroy();
  else socket?.write("HTTP/1.1 200 OK\r\ncontent-le", () => socket.destroy());
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
