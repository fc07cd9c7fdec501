import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/*
 * Node's parser of a connection, and its callback for a whole head. This leans on parts of Node that are not documented:
 * `socket.parser`, its `finish`, names of callbacks, and their arguments. So `fast-answers-trial.ts` tries it on an untested
 * Node, and the listener works without it.
 */

/** The part of a connection that the parser uses. */
interface ParsedConnection {
  readonly socket: Socket;
  /** Whether the parser should stop, because further requests would only wait, or get no answer. */
  readonly hasEnough: boolean;
  /** Makes the parser get few bytes at a time. `unread`: the bytes that it left. */
  readInSlices(unread: Buffer | null): void;
}

/** Looks at the requests of a connection before Node makes its objects for them. */
export interface FirstLook {
  readonly connection: ParsedConnection;
  /** Returns whether it answers the request, now or later. Otherwise Node does. */
  take(head: ParsedHead): boolean;
}

/** A head as the parser reports it. */
export class ParsedHead {
  readonly args: HeadersCompleteArguments;
  readonly #parser: Parser;
  readonly #callback: HeadersComplete;

  constructor(args: HeadersCompleteArguments, parser: Parser, callback: HeadersComplete) {
    this.args = args;
    this.#parser = parser;
    this.#callback = callback;
  }

  /** Makes Node create its objects for this request after all. It has no body, and its end has been read. */
  giveToNode(): void {
    this.#callback.apply(this.#parser, this.args);
    if (this.#parser.incoming) this.#parser.incoming.complete = true;
  }
}

/** Node's callback for a whole head, with a return value that tells the parser how to go on. */
type HeadersComplete = (this: Parser, ...args: HeadersCompleteArguments) => number | undefined;

/** `headers` and `url` are absent if they came in several pieces. `method` is an index. */
export type HeadersCompleteArguments = [
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
  socket: SeenSocket | null;
  incoming: IncomingMessage | null;
  /** Whether it reads from the connection itself, past the socket's stream. */
  readonly _consumed?: boolean;
  /** A copy of the bytes that it was given last. */
  getCurrentBuffer(): Buffer;
  /** What Node calls at the client's end. It changes nothing, and returns an error in the middle of a message. */
  finish(): unknown;
  [slot: number]: unknown;
}

/** The callbacks that this module has set. Node reuses parsers for other connections, also of other servers. */
const wrapped = new WeakSet<HeadersComplete>();

/**
 * The function that looks at the requests of a connection. Not a `WeakMap` by sockets: V8 frees the values of such a
 * map only when it collects its old generation, so it would copy each connection there first.
 */
const firstLook = Symbol("first look");

type SeenSocket = Socket & { readonly parser?: Parser | null; [firstLook]?: FirstLook };

/**
 * Lets a function see the requests of a connection first. Returns false, and changes nothing, if the parser is not the
 * expected one.
 */
export function lookFirst(look: FirstLook): boolean {
  const socket: SeenSocket = look.connection.socket;
  const { parser } = socket;
  if (!parser) return false;
  const slot = headersCompleteSlot(parser);
  if (slot === undefined) return false;
  socket[firstLook] = look;
  const original = parser[slot] as HeadersComplete;
  if (!wrapped.has(original)) parser[slot] = wrap(original);
  return true;
}

/** Whether the parser of a connection is in the middle of a request. Not to be called while it reads. */
export function isInRequest(socket: Duplex): boolean {
  const { parser } = socket as { readonly parser?: Parser | null };
  return parser?.finish() instanceof Error;
}

/**
 * Lets a client end its half before it has its answer. Node's HTTP would then end the connection, because it has read no
 * request. Its own function has this name.
 */
export function outlastEnd(socket: Socket): void {
  const ofNode = socket.listeners("end").find(({ name }) => name === "bound socketOnEnd");
  if (ofNode) socket.off("end", ofNode as () => void);
}

/**
 * Whether the piece of bytes that the parser reads begins and ends with this request, so that none come behind it. The
 * head has to be written in the usual way. Behind an equal one before it, the parser would have stopped. `bodyBytes`:
 * `null` if unknown. To be called while the parser hands over the head.
 */
export function fillsPiece(message: IncomingMessage, bodyBytes: number | null): boolean {
  const { method, url, httpVersion, rawHeaders, socket } = message;
  const piece = (socket as SeenSocket).parser?.getCurrentBuffer?.();
  if (piece === undefined || bodyBytes === null) return false;
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) head += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  head += "\r\n";
  return piece.length === head.length + bodyBytes && piece.toString("latin1", 0, head.length) === head;
}

function wrap(original: HeadersComplete): HeadersComplete {
  const headersComplete: HeadersComplete = function (...args) {
    const { socket } = this;
    const look = socket?.[firstLook];
    if (look === undefined) return original.apply(this, args);
    if (look.take(new ParsedHead(args, this, original))) {
      this.incoming = null; // Otherwise the end of this message would count as the end of the previous one.
      return 0;
    }
    const next = original.apply(this, args);
    return next === 0 && look.connection.hasEnough ? stopBehind(this, look.connection) : next;
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

/** The parser then leaves the rest of the bytes unread, as after an upgrade. */
const STOP = 2;

/**
 * Makes the parser stop after the current request, so that Node does not make objects for a pipeline of thousands of
 * requests at once. The rest is read in slices. Returns how the parser has to continue.
 */
function stopBehind(parser: Parser, connection: ParsedConnection): number {
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
