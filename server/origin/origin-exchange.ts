import type { Duplex } from "node:stream";
import type { Dispatcher } from "undici";
import type { OriginAnswer, OriginRequest } from "../../worker/ports/origin.ts";
import { Fields } from "../../worker/rules/fields/fields.ts";
import { isWebSocket } from "../../worker/rules/request/bypass.ts";
import { announcedBytes, isFramed, mayHaveBody } from "../../worker/rules/storing/framing.ts";
import { MOST_RESPONSE_FIELDS } from "../../worker/site/most-response-fields.ts";
import { type BodySource, PushedBody } from "../bodies/pushed-body.ts";
import type { SwitchedConnection } from "../http1/tunnel.ts";
import { LastValues } from "./last-values.ts";
import { becauseOf, explained, ownLack } from "./origin-failure.ts";

const NO_CONNECTION = "the request waited too long for a connection to the origin";

/** One request to the origin, from its start to the last byte of its answer's body. */
export class OriginExchange implements Dispatcher.DispatchHandler, BodySource {
  readonly answer: Promise<OriginAnswer>;
  /** Whether a byte of an answer has come. */
  hasBegun = false;
  readonly #resolve: (answer: OriginAnswer) => void;
  readonly #isHead: boolean;
  readonly #brokenBy: () => Error | null;
  readonly #inform: OriginRequest["inform"];
  #interims = 0;
  #interimBytes = 0;
  #endsWithConnection = false;
  #controller: Dispatcher.DispatchController | undefined;
  #isTimedOut = false;
  #body: PushedBody | undefined;
  #bodyBytes = 0;
  #hasEnded = false;
  /** Made for those who ask. */
  #end: PromiseWithResolvers<void> | undefined;

  /** `brokenBy`: the error of a connection, while undici is told of it. `inform` takes interim responses. */
  constructor(isHead: boolean, brokenBy: () => Error | null = () => null, inform: OriginRequest["inform"] = undefined) {
    const { promise, resolve } = Promise.withResolvers<OriginAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#isHead = isHead;
    this.#brokenBy = brokenBy;
    this.#inform = inform;
  }

  /** The head has not come in time. */
  timeOut(): void {
    this.#isTimedOut = true;
    const cause = this.#controller ? "the head of the answer took too long" : NO_CONNECTION;
    this.#resolve({ kind: "failed", because: "timed-out", cause });
    this.#controller?.abort(new Error(cause));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isTimedOut) controller.abort(new Error(NO_CONNECTION));
  }

  onResponseStarted(): void {
    this.hasBegun = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[]>,
    statusText = "",
  ): void {
    const because = status < 200 ? this.#reasonToRefuseInterim(status, headers) : reasonToRefuse(status, headers);
    if (because !== null) {
      this.#resolve({ kind: "failed", because: "bad-response", cause: because });
      controller.abort(new Error(because));
      return;
    }
    if (status < 200) {
      if (!this.#isTimedOut) this.#inform?.({ status, fields: toFields(headers) });
      return;
    }
    const fields = toFields(headers);
    const field = (name: string) => fields.get(name);
    const lengthBytes = announcedBytes(field);
    const hasBody = !this.#isHead && mayHaveBody(status) && lengthBytes !== 0;
    this.#endsWithConnection = !isFramed(status, field);
    this.#body = hasBody ? new PushedBody(lengthBytes, this) : undefined;
    const response = { status, statusText, fields, body: this.#body ?? null };
    this.#resolve({ kind: "answered", response: hasBody ? { ...response, ended: () => this.#whenEnded() } : response });
  }

  /**
   * An origin may send any number of them, and each could keep the request alive and fill memory. RFC 9110 §15.2. The parser
   * also lets through what is no status, and a switch of protocols that nobody asked for (§7.8).
   */
  #reasonToRefuseInterim(status: number, headers: Record<string, string | string[]>): string | null {
    if (status <= 101) return `status ${status} before the final response`;
    this.#interims++;
    for (const name in headers) this.#interimBytes += name.length + String(headers[name]).length;
    if (this.#interims > MAX_INTERIMS) return `more than ${MAX_INTERIMS} interim answers`;
    return this.#interimBytes > MAX_INTERIM_BYTES ? `more than ${MAX_INTERIM_BYTES} bytes of interim answers` : null;
  }

  pause(): void {
    this.#controller!.pause();
  }

  resume(): void {
    this.#controller!.resume();
  }

  cancel(): void {
    this.#noteEnd();
    this.#controller!.abort(new Error("nobody reads the rest of the answer"));
  }

  #whenEnded(): Promise<void> {
    this.#end ??= Promise.withResolvers<void>();
    if (this.#hasEnded) this.#end.resolve();
    return this.#end.promise;
  }

  #noteEnd(): void {
    this.#hasEnded = true;
    this.#end?.resolve();
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#bodyBytes += piece.byteLength;
    this.#body?.push(piece);
  }

  /** undici takes a reset, too, for the end of a body that ends with the connection. RFC 9112 §8. */
  onResponseEnd(): void {
    this.#noteEnd();
    const cause = this.#endsWithConnection ? this.#brokenBy() : null;
    if (cause) this.#body?.fail(cause);
    else this.#body?.end();
  }

  /** undici takes the spaces behind a `Content-Length` for digits, and then another length than its own parser. RFC 9112 §5. */
  onResponseError(_controller: Dispatcher.DispatchController | undefined, cause: Error): void {
    this.#noteEnd();
    if (this.#body?.lengthBytes === this.#bodyBytes) this.#body.end();
    else this.#body?.fail(cause);
    const because = becauseOf(cause);
    const saysNothing = because === "unreachable" && (this.#controller !== undefined || ownLack(cause) !== null);
    // undici starts a request before it writes a byte or reads the body. What it refuses to send is refused elsewhere, too.
    const wasNeverSent = this.#controller === undefined && because !== "bad-response";
    const also = { ...(saysNothing && { saysNothing }), ...(wasNeverSent && { wasNeverSent }) };
    this.#resolve({ kind: "failed", because, cause: explained(cause), ...also });
  }

  /** Only WebSockets are asked for, and a server may switch to nothing else. RFC 9110 §7.8. */
  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    headers: Record<string, string | string[]>,
    socket: Duplex,
  ): void {
    const fields = toFields(headers);
    const upgrade = fields.get("upgrade");
    if (this.#isTimedOut || !isWebSocket(upgrade)) {
      socket.destroy();
      const cause = `status 101 with Upgrade: ${upgrade}`;
      this.#resolve({ kind: "failed", because: "bad-response", cause });
      return;
    }
    socket.on("error", () => undefined); // Its other half may not listen yet.
    const connection: SwitchedConnection = { fields, socket };
    const ended = () => new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once("close", resolve)));
    this.#resolve({ kind: "switched", connection, ended });
  }
}

/** This bounds the work before the site's own limit is checked, with room for what parents add. */
const MAX_FIELDS = 2 * MOST_RESPONSE_FIELDS;

/** The interim answers before a final one, and all their fields together. Sites send one or two, with a few links. */
const MAX_INTERIMS = 32;
const MAX_INTERIM_BYTES = 64 * 1024;

/**
 * Answers that the parser accepts and no client may get: an invalid status, and a body in a transfer coding that is not
 * decoded here, whose end may be unclear, too. RFC 9110 §15, RFC 9112 §6.1, §7.
 */
function reasonToRefuse(status: number, headers: Record<string, string | string[]>): string | null {
  if (status > 599) return `status ${status} as a final response`;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && String(coding).toLowerCase() !== "chunked") return `the transfer coding ${coding}`;
  return Object.keys(headers).length > MAX_FIELDS ? `more than ${MAX_FIELDS} fields` : null;
}

const lastValues = new LastValues();

/** The names are in lower case already, and lines of one name are together. */
function toFields(headers: Record<string, string | string[]>): Fields {
  const lines: string[] = [];
  for (const name in headers) {
    const value = headers[name]!;
    if (typeof value === "string") lines.push(name, lastValues.textOf(name, withoutWhitespace(value)));
    else if (name === "set-cookie") for (const line of value) lines.push(name, withoutWhitespace(line));
    else lines.push(name, joined(name, value.map(withoutWhitespace)));
  }
  return Fields.of(lines);
}

/** Lines of one field as one. Browsers follow a `Location` that comes twice, and no list of it. RFC 9110 §5.3. */
function joined(name: string, lines: readonly string[]): string {
  return (name === "location" ? [...new Set(lines)] : lines).join(", ");
}

/**
 * A value without the spaces and tabs behind it, which undici's parser leaves there. They are no part of it, and in HTTP/2
 * they make a response malformed. RFC 9110 §5.5, RFC 9113 §8.2.1.
 */
function withoutWhitespace(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === " " || value[end - 1] === "\t")) end--;
  return value.slice(0, end);
}
