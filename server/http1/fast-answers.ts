import type { EdgeAnswer } from "../../worker/isolate.ts";
import type { Answer } from "../../worker/ports/answer.ts";
import type { Answering } from "../connections/answering.ts";
import { answeredExchange } from "./answered-exchange.ts";
import { ClientFields } from "./client-fields.ts";
import type { Connection, HeldRequest } from "./connection.ts";
import { lookFirst, type ParsedHead } from "./node-parser.ts";
import { NodeRequest } from "./node-request.ts";
import { isHost } from "./request-target.ts";
import { isOfControlPlane, plainAnswer } from "./web-answer.ts";
import { wholeAnswer } from "./whole-answer.ts";
import { unsent, type Written } from "./write-answer.ts";

/*
 * Answers plain requests without Node's objects for a request and its answer, which take most of the time of a hit, and
 * a good part of that of a miss. A plain request is a GET or HEAD without a body and without wishes, on a connection on
 * which nothing else is due. A hit is answered inside the callback in which Node's parser hands over its head; any other
 * answer when it comes, if its body is here by then.
 *
 * All else is Node's. A request that waits for its answer becomes Node's as soon as anything else happens on its
 * connection: another request, bytes that are none, or the client's end. So Node alone keeps answers in order.
 */

/** The parts of a listener that answer requests in HTTP/1. */
export interface FastAnswersParts extends Answering {
  /** Whether the next answer on a connection has to be the last one. */
  isLast(connection: Connection): boolean;
}

/** A plain request that has gone to the isolate. */
interface PlainRequest extends HeldRequest {
  readonly head: ParsedHead;
}

/** The indices of these methods in the parser. */
const GET = 1;
const HEAD = 2;

const SLASH = 0x2f;

/** The fast path of one listener. */
export class FastAnswers {
  readonly #parts: FastAnswersParts;
  /** How many hits it has answered inside the parser. */
  hits = 0;
  /** How many answers it has given later. */
  late = 0;

  constructor(parts: FastAnswersParts) {
    this.#parts = parts;
  }

  /** Serves a new connection. Returns false, and changes nothing, if Node's parser does not look as expected. */
  serve(connection: Connection): boolean {
    const isServed = lookFirst({ connection, take: (head) => this.#take(connection, head) });
    // Runs before Node's own listener, which ends a connection on which Node has nothing due.
    if (isServed) connection.socket.prependListener("end", () => connection.giveToNode());
    return isServed;
  }

  #take(connection: Connection, head: ParsedHead): boolean {
    connection.heads++;
    connection.giveToNode();
    const [major, minor, headers, method, target, , , upgrade] = head.args;
    if (headers === undefined || target === undefined || major !== 1 || upgrade) return false;
    if (method !== GET && method !== HEAD) return false;
    const { socket } = connection;
    if (!connection.isQuiet) return false;
    if (socket.writableLength > 0 || !socket.writable) return false;
    if (target.charCodeAt(0) !== SLASH || target.includes("#")) return false;
    const host = plainHost(headers);
    if (host === null || !isHost(host)) return false;
    const startedAt = this.#parts.log ? performance.now() : 0;
    const clientFields = new ClientFields(headers);
    const arrival = connection.arrivals.of(clientFields, target);
    const request = new NodeRequest(method === HEAD ? "HEAD" : "GET", clientFields, null, arrival);
    if (minor === 1) request.interims = connection;
    request.client = connection;
    const answer = this.#parts.ask(request, `${arrival.scheme}://${host}${target}`);
    const plain = { request, answer, startedAt, head };
    if (answer instanceof Promise) {
      this.#answerLater(connection, plain, answer);
    } else if (isInMemory(answer)) {
      this.hits++;
      this.#write(connection, plain, answer);
    } else {
      connection.askedEarly = plain;
      return false;
    }
    return true;
  }

  #answerLater(connection: Connection, plain: PlainRequest, asked: Promise<EdgeAnswer>): void {
    connection.hold(plain);
    asked.then(
      (answer) => {
        if (connection.held === plain) this.#answerHeld(connection, plain, answer);
      },
      (cause: unknown) => {
        if (connection.held === plain) this.#answerHeld(connection, plain, this.#parts.failed(cause));
      },
    );
  }

  #answerHeld(connection: Connection, plain: PlainRequest, answered: EdgeAnswer): void {
    if (connection.socket.destroyed) {
      const answer = plainAnswer(answered);
      connection.release();
      this.#record(plain, answer, unsent(answer), true);
      return;
    }
    const answer = isOfControlPlane(answered) || answered.switchedTo ? null : wholeAnswer(answered, this.#parts.bodies);
    if (answer === null) {
      connection.giveToNode();
      return;
    }
    connection.release();
    this.late++;
    this.#write(connection, plain, answer);
  }

  /** Writes an answer that is in memory. */
  #write(connection: Connection, plain: PlainRequest, answer: Answer): void {
    const { socket } = connection;
    plain.request.interims = null;
    const { method, arrival } = plain.request;
    const [, minor, , , , , , , shouldKeepAlive] = plain.head.args;
    connection.requests++;
    const keepsAlive = shouldKeepAlive && !this.#parts.isLast(connection);
    const made = this.#parts.made[arrival.scheme].make(answer, {
      isHead: method === "HEAD",
      knowsChunks: minor === 1,
      keepsAlive,
    });
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
      if (shouldKeepAlive)
        connection.linger(); // because it may have sent more
      else socket.destroySoon();
    } else if (socket.writableLength > 0) {
      connection.watchStall();
    }
    this.#record(plain, answer, { bodyBytes: made.bytes?.byteLength ?? 0, isWhole: true }, false);
  }

  #record({ request, head, startedAt }: PlainRequest, answer: Answer, written: Written, hasLeft: boolean): void {
    const { log } = this.#parts;
    if (log === null) return;
    const [, minor, , , target] = head.args;
    const line = { method: request.method, url: target!, httpVersion: `1.${minor}` };
    log.record(answeredExchange(line, request, answer, written, startedAt, hasLeft));
  }
}

/** Whether all of an answer is in memory. */
function isInMemory(answer: EdgeAnswer): answer is Answer {
  if (!("fields" in answer)) return false;
  return answer.switchedTo === undefined && (answer.body === null || answer.body instanceof Uint8Array);
}

/** The host of a request without a body or special fields; `null` for any other request, which Node handles. */
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
