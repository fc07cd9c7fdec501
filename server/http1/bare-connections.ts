import type { IncomingMessage } from "node:http";
import type { Answer } from "../../worker/ports/answer.ts";
import type { StreamedBody } from "../../worker/ports/bodies.ts";
import { UNREAD_METHOD } from "../connections/access-log.ts";
import type { Answering } from "../connections/answering.ts";
import { refusalAnswer, TOO_MANY_CONNECTIONS } from "../connections/refusal.ts";
import { type AnswerHead, answerHead, headText } from "./answer-head.ts";
import { answeredExchange } from "./answered-exchange.ts";
import { beginsBan, readBanHead } from "./ban-head.ts";
import { ClientFields } from "./client-fields.ts";
import type { Connection } from "./connection.ts";
import { outlastEnd } from "./node-parser.ts";
import { NodeRequest } from "./node-request.ts";
import { lineOf, type RefusedRequest, type RequestLine, refused, requestTarget } from "./request-target.ts";
import { join, type SwitchedConnection, switchingHead } from "./tunnel.ts";
import { plainAnswer } from "./web-answer.ts";
import { cutSocket, unsent, type Written } from "./write-answer.ts";

/** The parts of a listener that bare connections use. */
export interface BareConnectionsParts extends Answering {
  /**
   * Counts a tunnel's connection to the origin. Returns the function that ends the count; `null` if there are too many
   * connections.
   */
  countTunnel(): (() => void) | null;
  readonly maxHeadBytes: number;
  readonly strictTransportSecurity: string | undefined;
}

/**
 * Connections that Node's HTTP no longer handles: they switch to another protocol, use a method that its parser does
 * not know, or carry no HTTP. Each gets at most one answer, or becomes a tunnel.
 */
export class BareConnections {
  readonly #parts: BareConnectionsParts;

  constructor(parts: BareConnectionsParts) {
    this.#parts = parts;
  }

  /** Answers a request for a WebSocket on the bare connection. */
  async upgrade(connection: Connection, message: IncomingMessage, head: Buffer): Promise<void> {
    takeOver(connection);
    if (head.byteLength > 0) connection.socket.unshift(head);
    await this.#answer(connection, lineOf(message), message.rawHeaders, this.#parts.countTunnel());
  }

  /** Answers bytes that are not a request. RFC 9112 §2.2. */
  misread(connection: Connection, error: NodeJS.ErrnoException): void {
    const { socket, isLast } = connection;
    const { code, rawPacket } = error as typeof error & { readonly rawPacket?: Buffer };
    // When the client ends, TLS gives the remaining bytes to the parser, which Node has paused, so they are lost.
    if (code === "HPE_PAUSED" && rawPacket) {
      connection.readInSlices(rawPacket);
      return;
    }
    // The last answer ends the connection. Closing it earlier could reset it. RFC 9112 §9.6.
    if (isLast && code?.startsWith("HPE_")) {
      connection.failUpload("the body was cut off");
      return;
    }
    if (code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
      this.refuseSlowHead(connection);
      return;
    }
    // Bytes after a request with `Connection: close` are not a request, and its answer is still to come.
    if (code === "HPE_CLOSED_CONNECTION") return;
    if (code === "HPE_INVALID_METHOD" && connection.isQuiet && this.#readBan(connection, rawPacket)) return;
    this.#refuse(connection, MISREAD[code ?? ""] ?? NO_REQUEST);
  }

  /**
   * Browsers open connections that they may never use, and would take a 408 for the answer to their first request. So a
   * connection on which nothing arrived ends without an answer.
   */
  refuseSlowHead(connection: Connection): void {
    if (connection.isUnused) connection.socket.destroy();
    else this.#refuse(connection, SLOW_HEAD);
  }

  /** RFC 9110 §9.1, §9.3.6. */
  refuseTunnel(connection: Connection, message: IncomingMessage): void {
    takeOver(connection);
    connection.carryOn();
    this.#refuse(connection, NO_PROXY, message);
  }

  /** Ends a connection with this answer. What was sent counts for nothing, so the scheme is that of the connection. */
  #refuse(connection: Connection, refusal: RefusedRequest, message: ReadMessage = UNREAD): void {
    const arrival = connection.arrivals.of(NO_FIELDS, "");
    const answer = refusalAnswer(connection.isOverLimit ? TOO_MANY_CONNECTIONS : refusal);
    const body = Buffer.from(answer.body as Uint8Array);
    const head = answerHead(
      answer,
      { isHead: false, knowsChunks: true, keepsAlive: false },
      arrival.scheme === "https" ? this.#parts.strictTransportSecurity : undefined,
    );
    if (!connection.refuseRest(headText(head) + body.toString("latin1"))) return;
    const request = new NodeRequest(message.method!, new ClientFields(message.rawHeaders), null, arrival);
    const written = { bodyBytes: body.byteLength, isWhole: true };
    this.#parts.log?.record(answeredExchange(message, request, answer, written, performance.now(), false));
  }

  /** Reads bytes that Node's parser does not know as a BAN. Returns false if they are not one. */
  #readBan(connection: Connection, bytes: Buffer | undefined): boolean {
    const read = connection.banHead + (bytes?.toString("latin1") ?? "");
    if (!beginsBan(read) || read.length > this.#parts.maxHeadBytes) return false;
    connection.banHead = read;
    const head = readBanHead(read);
    if (head) {
      outlastEnd(connection.socket);
      void this.#answer(connection, head.line, head.raw);
    }
    return head !== null;
  }

  /**
   * Answers a request without a body, and ends the connection or turns it into a tunnel: Node's parser no longer
   * handles it. `uncount` is called if there is no tunnel, or when it ends; `null` if there is no room for one.
   */
  async #answer(
    connection: Connection,
    line: RequestLine,
    raw: readonly string[],
    uncount: (() => void) | null = () => undefined,
  ): Promise<void> {
    const startedAt = performance.now();
    connection.outstanding++;
    connection.isLast = true;
    const { method, target, versionMajor, versionMinor } = line;
    const fields = new ClientFields(raw);
    const request = new NodeRequest(method, fields, null, connection.arrivals.of(fields, target));
    request.client = connection;
    const answer = uncount === null ? refusalAnswer(TOO_MANY_CONNECTIONS) : await this.#askOnce(line, request);
    const message = { method, url: target, httpVersion: `${versionMajor}.${versionMinor}` };
    const hasLeft = connection.socket.destroyed || connection.socket.readableEnded;
    const record = (written: Written) =>
      this.#parts.log?.record(answeredExchange(message, request, answer, written, startedAt, hasLeft));
    if (answer.switchedTo !== undefined) {
      const switched = answer.switchedTo as SwitchedConnection;
      if (switched.socket.closed) uncount?.();
      else switched.socket.once("close", () => uncount?.());
      beginTunnel(connection, switched, record);
      return;
    }
    uncount?.();
    const written = await this.#writeAndEnd(connection, request, answer);
    connection.outstanding--;
    record(written);
  }

  /** Asks the edge for a request without a body, on a bare connection. Never rejects. */
  async #askOnce(line: RequestLine, request: NodeRequest): Promise<Answer> {
    const target = requestTarget(line, request.headers, request.arrival.scheme);
    const asked = target.kind === "refused" ? refusalAnswer(target) : this.#parts.ask(request, target.url);
    const answered = await Promise.resolve(asked).catch((cause: unknown) => this.#parts.failed(cause));
    return plainAnswer(answered);
  }

  /** Writes an answer on a connection that Node's HTTP no longer handles, and ends it. */
  async #writeAndEnd(connection: Connection, { arrival }: NodeRequest, answer: Answer): Promise<Written> {
    const { socket } = connection;
    const { strictTransportSecurity } = this.#parts;
    const request = { isHead: false, knowsChunks: false, keepsAlive: false };
    const head = answerHead(answer, request, arrival.scheme === "https" ? strictTransportSecurity : undefined);
    if (socket.destroyed) return unsent(answer);
    if (head.isBodiless) unsent(answer); // drops its body
    const body = head.isBodiless ? null : answer.body;
    const isStream = body !== null && !(body instanceof Uint8Array);
    socket.write(headText(head), "latin1");
    if (isStream) return this.#writeStream(connection, body, head);
    if (body !== null) socket.write(body);
    connection.linger();
    return { bodyBytes: body?.byteLength ?? 0, isWhole: true };
  }

  async #writeStream(connection: Connection, body: StreamedBody, { framing }: AnswerHead): Promise<Written> {
    const { socket } = connection;
    const reader = this.#parts.bodies.readThrough(body);
    let bodyBytes = 0;
    let wake: (() => void) | undefined;
    socket.on("drain", () => wake?.());
    socket.once("close", () => {
      wake?.();
      void reader.cancel().catch(() => undefined);
    });
    try {
      for (let piece = await reader.next(); piece !== null && !socket.destroyed; piece = await reader.next()) {
        bodyBytes += piece.byteLength;
        if (socket.write(piece)) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (socket.destroyed) resolve();
        });
      }
    } catch {
      cutSocket(socket, framing);
      return { bodyBytes, isWhole: false };
    }
    if (socket.destroyed) return { bodyBytes, isWhole: false };
    connection.linger();
    return { bodyBytes, isWhole: true };
  }
}

/** Takes a connection from which Node's HTTP has removed its listeners. */
function takeOver(connection: Connection): void {
  const { socket } = connection;
  connection.leaveHttp();
  socket.on("error", () => undefined); // "close" follows
  socket.on("timeout", () => connection.stalled());
}

/** Joins a connection to one of the origin that speaks another protocol. `onEnd` gets what the client was sent. */
function beginTunnel(connection: Connection, switched: SwitchedConnection, onEnd: (written: Written) => void): void {
  const { socket } = connection;
  if (socket.destroyed) {
    switched.socket.destroy();
    return;
  }
  connection.isTunnel = true;
  const sentBefore = socket.bytesWritten;
  socket.write(switchingHead(switched), "latin1");
  // It would not tell of its end any more.
  if (switched.socket.closed) socket.destroySoon();
  else join(socket, switched.socket, () => connection.halfEnded());
  socket.once("close", () => onEnd({ bodyBytes: socket.bytesWritten - sentBefore, isWhole: true }));
}

/** The answers to the errors of Node's parser. */
const MISREAD: Readonly<Record<string, RefusedRequest>> = {
  HPE_HEADER_OVERFLOW: refused(431, "the request has too many bytes of fields"),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: refused(413, "the chunks of the request have too many extensions"),
};
/** RFC 9110 §15.5.9. */
const SLOW_HEAD = refused(408, "the head of the request took too long");
const NO_REQUEST = refused(400, "this is not a request in HTTP/1.1, or its method is not known");
const NO_PROXY = refused(501, "this server is not a proxy and does not accept CONNECT", "connect");

const NO_FIELDS = new ClientFields([]);

type ReadMessage = Pick<IncomingMessage, "method" | "url" | "httpVersion" | "rawHeaders">;

/** The version is that of the answer. */
const UNREAD: ReadMessage = { method: UNREAD_METHOD, url: "-", httpVersion: "1.1", rawHeaders: [] };
