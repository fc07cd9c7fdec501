import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { EdgeAnswer } from "../../worker/isolate.ts";
import type { Answer } from "../../worker/ports.ts";
import type { Scheme } from "../front/arrival.ts";
import type { AnsweredExchange } from "./access-log.ts";
import { ClientFields } from "./client-fields.ts";
import type { Connection } from "./connection.ts";
import type { MadeAnswers } from "./made-answers.ts";
import { NodeRequest } from "./node-request.ts";
import { isHost } from "./request-target.ts";

/*
 * Answers hits inside the callback in which Node's parser hands over a head, before Node makes its objects for the
 * request and its answer. They take most of the time of a hit.
 *
 * This leans on parts of Node that are not documented: `socket.parser`, its callback for a whole head, and the arguments
 * of that callback. So `fast-hits-trial.ts` tries it at every start, and the listener works without it.
 * All but plain GET and HEAD requests on a quiet connection go to Node's own callback.
 */

/** What of a listener the fast way needs. */
export interface FastHitsParts {
  ask(request: NodeRequest, url: string): EdgeAnswer | Promise<EdgeAnswer>;
  readonly made: Readonly<Record<Scheme, MadeAnswers>>;
  /** Whether the next answer on a connection has to be its last. */
  isLast(connection: Connection): boolean;
  /** `null` if nothing is logged. */
  readonly log: ((exchange: AnsweredExchange) => void) | null;
}

/** Node's callback for a whole head, with a return value that tells the parser how to go on. */
type HeadersComplete = (this: Parser, ...args: HeadersCompleteArguments) => number | undefined;

/** `headers` and `url` are absent if they came in several pieces. `method` is an index. */
type HeadersCompleteArguments = [
  versionMajor: number,
  versionMinor: number,
  headers: string[] | undefined,
  method: number,
  url: string | undefined,
  statusCode: unknown,
  statusMessage: unknown,
  upgrade: boolean,
  shouldKeepAlive: boolean,
];

interface Parser {
  socket: Socket | null;
  incoming: IncomingMessage | null;
  /** Whether it reads from the connection itself, past the socket's stream. */
  readonly _consumed?: boolean;
  /** A copy of the bytes that it was given last. */
  getCurrentBuffer(): Buffer;
  [slot: number]: unknown;
}

/** The indices of these methods in the parser. */
const GET = 1;
const HEAD = 2;

/** The callbacks that are ours. Node uses a parser again for other connections, also for those of other servers. */
const wrapped = new WeakSet<HeadersComplete>();

/** The connections that the fast way serves, by their sockets. */
const served = new WeakMap<Socket, { readonly by: FastHits; readonly connection: Connection }>();

/** The fast way of one listener. */
export class FastHits {
  readonly #parts: FastHitsParts;
  /** How many hits it has answered. */
  answered = 0;

  constructor(parts: FastHitsParts) {
    this.#parts = parts;
  }

  /** Serves a new connection. Returns false if Node's parser does not look as expected; then nothing has changed. */
  serve(connection: Connection): boolean {
    const { socket } = connection;
    const parser = (socket as { parser?: Parser }).parser;
    if (!parser) return false;
    const slot = headersCompleteSlot(parser);
    if (slot === undefined) return false;
    served.set(socket, { by: this, connection });
    const original = parser[slot] as HeadersComplete;
    if (!wrapped.has(original)) parser[slot] = wrap(original);
    return true;
  }

  /** Answers the request if it is a hit, and returns whether it did. */
  tryAnswer(connection: Connection, args: HeadersCompleteArguments): boolean {
    const [major, minor, headers, method, target, , , upgrade, shouldKeepAlive] = args;
    if (headers === undefined || target === undefined || major !== 1 || upgrade) return false;
    if (method !== GET && method !== HEAD) return false;
    const { socket } = connection;
    if (!connection.isQuiet) return false;
    if (socket.writableLength > 0 || !socket.writable || target.charCodeAt(0) !== SLASH) return false;
    const host = plainHost(headers);
    if (host === null || !isHost(host)) return false;
    const startedAt = this.#parts.log ? performance.now() : 0;
    const isHead = method === HEAD;
    const clientFields = new ClientFields(headers);
    const arrival = connection.arrivals.of(clientFields, target);
    const request = new NodeRequest(isHead ? "HEAD" : "GET", clientFields, null, arrival);
    const answer = this.#parts.ask(request, `${arrival.scheme}://${host}${target}`);
    if (answer instanceof Promise || !isPlain(answer)) {
      connection.askedEarly = { request, answer, startedAt };
      return false;
    }
    connection.requests++;
    this.answered++;
    const keepsAlive = shouldKeepAlive && !this.#parts.isLast(connection);
    const made = this.#parts.made[arrival.scheme].make(answer, { isHead, knowsChunks: minor === 1, keepsAlive });
    if (made.isText) {
      socket.write(made.whole, "latin1");
    } else {
      const [head, body] = made.pieces;
      socket.cork();
      socket.write(head);
      socket.write(body);
      socket.uncork();
    }
    if (!keepsAlive) {
      connection.isLast = true;
      socket.destroySoon();
    } else if (socket.writableLength > 0) {
      connection.watchStall();
    }
    if (this.#parts.log) {
      const { clientAddress, site } = arrival;
      const { method: name, headers: fields } = request;
      const tookMs = performance.now() - startedAt;
      const bodyBytes = made.bytes?.byteLength ?? 0;
      const line = { clientAddress, site: site?.name, method: name, target, version: `1.${minor}`, fields, answer };
      this.#parts.log({ ...line, bodyBytes, tookMs, isWhole: true });
    }
    return true;
  }
}

const SLASH = 0x2f;

/** Whether an answer is whole in memory. */
function isPlain(answer: EdgeAnswer): answer is Answer {
  if (!("fields" in answer)) return false;
  return answer.switchedTo === undefined && (answer.body === null || answer.body instanceof Uint8Array);
}

/** The host of a request without a body and without wishes; `null` for any other, which is Node's. */
function plainHost(headers: readonly string[]): string | null {
  let host: string | null = null;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!;
    switch (name.length) {
      case 4:
        if (name !== "Host" && name.toLowerCase() !== "host") break;
        if (host !== null) return null;
        host = headers[at + 1]!;
        break;
      case 6:
      case 7:
      case 14:
      case 17:
        if (NOT_PLAIN.has(name.toLowerCase())) return null;
        break;
    }
  }
  return host;
}

const NOT_PLAIN: ReadonlySet<string> = new Set(["expect", "upgrade", "content-length", "transfer-encoding"]);

function wrap(original: HeadersComplete): HeadersComplete {
  const headersComplete: HeadersComplete = function (...args) {
    const { socket } = this;
    const ours = socket === null ? undefined : served.get(socket);
    if (ours === undefined) return original.apply(this, args);
    if (ours.by.tryAnswer(ours.connection, args)) {
      this.incoming = null; // Otherwise the end of this message would count as that of the one before.
      return 0;
    }
    const next = original.apply(this, args);
    return next === 0 && ours.connection.hasWaiting ? stopBehind(this, ours.connection) : next;
  };
  wrapped.add(headersComplete);
  return headersComplete;
}

/** The slot of the callback for a whole head. Node's own function has this name. */
function headersCompleteSlot(parser: Parser): number | undefined {
  return slotWith(parser, (callback) => callback.name === "parserOnHeadersComplete" || wrapped.has(callback));
}

function slotWith(parser: Parser, isIt: (callback: HeadersComplete) => boolean): number | undefined {
  for (let slot = 0; slot < SLOTS; slot++) {
    const callback = parser[slot];
    if (typeof callback === "function" && isIt(callback as HeadersComplete)) return slot;
  }
  return undefined;
}

const SLOTS = 16;

/** The parser then leaves the rest of the bytes, as it does behind a request that upgrades. */
const STOP = 2;

/**
 * Makes the parser stop behind the present request, so that a pipeline of thousands of requests does not become as many
 * of Node's objects at once. What it leaves is read in slices. Returns how the parser has to go on.
 */
function stopBehind(parser: Parser, connection: Connection): number {
  const { headers } = parser.incoming!;
  const hasBody = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
  const slot = slotWith(parser, ({ name }) => name.endsWith("onParserExecute"));
  if (hasBody || slot === undefined || parser._consumed !== true) return 0;
  const executed = parser[slot] as (read: unknown) => void;
  parser[slot] = (read: unknown) => {
    parser[slot] = executed;
    const unread = typeof read === "number" ? parser.getCurrentBuffer().subarray(read) : null;
    executed(read);
    connection.readInSlices(unread);
  };
  return STOP;
}
