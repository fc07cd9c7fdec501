import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What an origin answers once. Fields that are not named are not sent, but for `Date` and the body's framing. */
export interface Reply {
  /** Default 200. */
  readonly status?: number;
  /** A list stands for several lines of one field, an empty one for none. */
  readonly fields?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  /** How the body's end is told. Default `length`; `close` is the end of the connection. */
  readonly framing?: "length" | "chunked" | "close";
  /** Hang up after so many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** Keep the answer back until `release` is called with this name; it is what the origin knew when it was asked. */
  readonly hold?: string;
  /** Send the head and this much of the body at once; the hold then keeps back the rest. */
  readonly bytesBeforeHold?: number;
  /** Hang up in place of an answer (`reset`), or in the middle of its head. Default: answer. */
  readonly failure?: "reset" | "cut-head";
}

/** A reply of a real server, which can be slow as well. */
export interface ServerReply extends Reply {
  /** Wait so many real milliseconds before answering. Default 0. */
  readonly delayMs?: number;
}

/** What the origin was asked. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query as they came over the wire. */
  readonly target: string;
  readonly fields: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A real HTTP server that answers by script and is the witness of what it was asked. */
export class ScriptedOrigin {
  readonly #now: () => number;
  readonly #replies = new Map<string, ServerReply[]>();
  #otherwise: Reply | undefined;
  readonly #seen: SeenRequest[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();
  readonly #arrivals: { target: string; count: number; resolve: () => void }[] = [];
  #server: Server | undefined;
  #port = 0;

  /** `now` is the time that goes into `Date`: epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get seen(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Sets what a path answers, in turn; the last reply goes on for ever. */
  reply(target: string, ...replies: ServerReply[]): void {
    this.#replies.set(target, replies);
  }

  /** Sets what all paths answer that the script does not name. Default: 404. */
  replyOtherwise(reply: Reply | undefined): void {
    this.#otherwise = reply;
  }

  /** The paths that the script names. */
  get targets(): readonly string[] {
    return [...this.#replies.keys()];
  }

  /** Starts listening, on the port of before if there was one. */
  async comeUp(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.keepAliveTimeout = 60_000;
    server.on("upgrade", (request: IncomingMessage, socket: Socket) => this.#upgrade(request, socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Hangs up on everybody and refuses connections. */
  async goDown(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** Lets the answers of a hold go. */
  release(hold: string): void {
    this.#gate(hold).resolve();
    this.#gates.delete(hold);
  }

  /** Resolves once a target has been asked for so many times. */
  async hasSeen(target: string, count: number): Promise<void> {
    if (this.countOf(target) >= count) return;
    await new Promise<void>((resolve) => this.#arrivals.push({ target, count, resolve }));
  }

  countOf(target: string): number {
    return this.#seen.filter((request) => request.target === target).length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const reply = this.#take(request, body);
    const { status = 200, framing = "length", cutAfterBytes, hold, bytesBeforeHold } = reply;
    if (reply.delayMs) await sleep(reply.delayMs);
    const bytes = Buffer.from(reply.body ?? "");
    const held = hold === undefined ? undefined : this.#gate(hold).promise;
    if (held && bytesBeforeHold === undefined) await held;
    if (reply.failure) return hangUp(response.socket, reply.failure);
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

  #upgrade(request: IncomingMessage, socket: Socket): void {
    this.#take(request, "");
    socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n");
  }

  /** Records the request and picks what answers it: what the origin knows at this moment. */
  #take(request: IncomingMessage, body: string): ServerReply {
    const target = request.url ?? "";
    this.#seen.push({ method: request.method ?? "", target, fields: { ...request.headers }, body });
    for (const waiting of this.#arrivals) if (this.countOf(waiting.target) >= waiting.count) waiting.resolve();
    const replies = this.#replies.get(target);
    const reply = replies && replies.length > 1 ? replies.shift() : replies?.[0];
    return reply ?? this.#otherwise ?? { status: 404, body: `the script has nothing for ${target}` };
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}

function hangUp(socket: Socket | null, failure: "reset" | "cut-head"): void {
  if (failure === "reset") socket?.resetAndDestroy();
  else socket?.write("HTTP/1.1 200 OK\r\ncontent-le", () => socket.destroy());
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
