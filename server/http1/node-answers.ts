import type { IncomingMessage, ServerResponse } from "node:http";
import type { EdgeAnswer } from "../../worker/isolate.ts";
import { isWebSocket } from "../../worker/rules/request/bypass.ts";
import { PushedBody } from "../bodies/pushed-body.ts";
import { admittedTarget, refusalAnswer } from "../connections/refusal.ts";
import { answeredExchange } from "./answered-exchange.ts";
import { ClientFields } from "./client-fields.ts";
import type { Connection, Exchange } from "./connection.ts";
import type { FastAnswersParts } from "./fast-answers.ts";
import { fillsPiece } from "./node-parser.ts";
import { type InterimWriter, NodeRequest } from "./node-request.ts";
import { lineOf, refused, requestTarget } from "./request-target.ts";
import { plainAnswer } from "./web-answer.ts";
import { wholeAnswer } from "./whole-answer.ts";
import { cutOff, unsent, type Written, writeAnswer } from "./write-answer.ts";

/** Answers the requests for which Node has made its own objects. */
export class NodeAnswers {
  readonly #parts: FastAnswersParts;

  constructor(parts: FastAnswersParts) {
    this.#parts = parts;
  }

  answer({ message, response }: Exchange, connection: Connection): void {
    if (connection.isLast) return;
    const startedAt = performance.now();
    const early = connection.askedEarly;
    connection.askedEarly = undefined;
    if (early) {
      this.#respond({ message, response }, connection, early.request, early.answer, early.startedAt);
      return;
    }
    const isUnswitched = connection.unswitched === message;
    const fields = fieldsOf(message);
    const expectation = message.httpVersionMinor === 0 ? null : fields.get("expect");
    const request = this.#read({ message, response }, fields, connection);
    const asked = requestTarget(lineOf(message), fields, request.arrival.scheme);
    const admitted = admittedTarget(asked, connection.isOverLimit, expectation);
    const target = admitted.kind === "url" && isWebSocket(fields.get("upgrade")) ? LATE_WEB_SOCKET : admitted;
    if (target.kind === "refused" || isUnswitched) {
      connection.isLast = true;
      connection.final = response;
    }
    const answer = target.kind === "refused" ? refusalAnswer(target) : this.#parts.ask(request, target.url);
    this.#respond({ message, response }, connection, request, answer, startedAt);
  }

  #respond(
    exchange: Exchange,
    connection: Connection,
    request: NodeRequest,
    asked: EdgeAnswer | Promise<EdgeAnswer>,
    startedAt: number,
  ): void {
    if (asked instanceof Promise) {
      void asked
        .catch((cause: unknown) => this.#parts.failed(cause))
        .then((answer) => this.#write(exchange, connection, request, answer, startedAt));
    } else {
      this.#write(exchange, connection, request, asked, startedAt);
    }
  }

  #write(
    { message, response }: Exchange,
    connection: Connection,
    request: NodeRequest,
    answered: EdgeAnswer,
    startedAt: number,
  ): void {
    let answer = plainAnswer(answered);
    request.interims = null;
    if (response.destroyed) {
      const written = unsent(answer);
      this.#parts.log?.record(answeredExchange(message, request, answer, written, startedAt, true));
      return;
    }
    const hasLeft = connection.socket.readableEnded;
    answer = wholeAnswer(answer, this.#parts.bodies) ?? answer;
    const isHead = message.method === "HEAD";
    const sendsOn = !message.complete && (request.awaitsContinue || connection.isBroken || !isSmall(request));
    const isLast = connection.newest?.response === response && this.#parts.isLast(connection);
    const isFinal = connection.final === response;
    const made = this.#parts.made[request.arrival.scheme].make(answer, {
      isHead,
      knowsChunks: message.httpVersionMinor === 1,
      keepsAlive: response.shouldKeepAlive && !sendsOn && !isFinal && !isLast,
    });
    if (!made.head.keepsAlive) {
      connection.isLast = true;
      // A client may have sent more unless it said that this is its last request.
      if (!message.complete || response.shouldKeepAlive) connection.socket.destroySoon = () => connection.linger();
    }
    let written: Written | Promise<Written>;
    try {
      written = writeAnswer(response, made, answer, this.#parts.bodies, () => connection.watchStall());
    } catch (cause) {
      this.#parts.warn(`An answer could not be written: ${String(cause)}`);
      cutOff(response, made.head.framing);
      written = { bodyBytes: 0, isWhole: false };
    }
    const { log } = this.#parts;
    if (log === null) return;
    const record = (result: Written) =>
      log.record(answeredExchange(message, request, answer, result, startedAt, hasLeft));
    if (written instanceof Promise) void written.then(record);
    else record(written);
  }

  /** A request whose body is read, and requested with a 100, only when somebody reads it. */
  #read({ message, response }: Exchange, fields: ClientFields, connection: Connection): NodeRequest {
    const length = fields.get("content-length");
    const isChunked = fields.get("transfer-encoding") !== null;
    const arrival = connection.arrivals.of(fields, message.url!);
    const hasBody = isChunked || (length !== null && Number(length) !== 0);
    const interims = message.httpVersionMinor === 1 ? { writeInterim: interimWriter(response, connection) } : null;
    const side = { interims, client: connection };
    if (!hasBody) return Object.assign(new NodeRequest(message.method!, fields, null, arrival), side);
    const body: PushedBody = new PushedBody(isChunked ? null : Number(length), {
      begin: () => {
        if (message.destroyed) body.fail(new Error("the client has left"));
        message.on("data", (piece: Buffer) => body.push(piece));
        message.on("end", () => body.end());
        message.on("error", (cause) => body.fail(cause));
        message.on("close", () => body.fail(new Error("the client hung up in the middle of its request")));
        if (request.awaitsContinue) response.writeContinue();
        request.awaitsContinue = false;
        connection.watchUpload();
      },
      pause: () => message.pause(),
      resume: () => {
        message.resume();
        connection.watchUpload();
      },
      cancel: () => message.resume(),
    });
    const request = Object.assign(new NodeRequest(message.method!, fields, body, arrival), side);
    request.awaitsContinue = message.httpVersionMinor === 1 && fields.get("expect") !== null;
    connection.upload = { message, body };
    if (connection.isBroken && !message.complete) body.fail(new Error("the body was cut off"));
    return request;
  }

  /** Whether a request leaves Node's HTTP. Node asks this if both `Upgrade` and `Connection` name another protocol. */
  mayUpgrade(message: IncomingMessage, connection: Connection): boolean {
    const fields = fieldsOf(message);
    const bodyBytes = fields.get("transfer-encoding") === null ? Number(fields.get("content-length") ?? 0) : null;
    const switches = connection.isQuiet && bodyBytes === 0 && isWebSocket(fields.get("upgrade"));
    if (!switches && !fillsPiece(message, bodyBytes)) connection.unswitched ??= message;
    return switches;
  }
}

/**
 * The fields of a request. `Upgrade` is ignored unless `Connection` names it too. HTTP/1.0 cannot switch protocols,
 * and only a GET can become a WebSocket. RFC 9110 §7.8, RFC 6455 §4.1.
 */
function fieldsOf({ rawHeaders, httpVersionMinor, method }: IncomingMessage): ClientFields {
  const fields = new ClientFields(rawHeaders);
  if (fields.get("upgrade") === null) return fields;
  const isNamed = NAMES_UPGRADE.test(fields.get("connection") ?? "");
  if (isNamed && httpVersionMinor !== 0 && method === "GET") return fields;
  const isKept = (_: string, at: number) => rawHeaders[at - (at % 2)]!.toLowerCase() !== "upgrade";
  return new ClientFields(rawHeaders.filter(isKept));
}

const NAMES_UPGRADE = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i;

/** A request that waits behind other answers gets no interim responses, because nothing can be written for it yet. */
function interimWriter(response: ServerResponse, connection: Connection): InterimWriter["writeInterim"] {
  return (head) => {
    if (response.socket !== null && !response.headersSent) connection.writeInterim(head);
  };
}

const LATE_WEB_SOCKET = refused(
  400,
  "a WebSocket cannot begin while other answers are pending, or with a body",
  "upgrade",
);

/** The most unread bytes of a request's body that are read and dropped to keep the connection. */
const MAX_DROPPED_BYTES = 64 * 1024;

function isSmall({ body }: NodeRequest): boolean {
  return body === null || (body.lengthBytes !== null && body.lengthBytes <= MAX_DROPPED_BYTES);
}
