import type { Answer } from "../../worker/ports/answer.ts";
import type { InterimResponse } from "../../worker/ports/origin.ts";
import { nodeBody } from "../bodies/node-body.ts";
import { challengesIn } from "./challenges.ts";
import { reasonPhrase } from "./reason-phrase.ts";

/** How a client finds the end of the body. RFC 9112 §6.3. */
export type Framing =
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "none" | "chunked" | "close" };

/** The head of an answer and its framing, ready to be written. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn, with the fields of the framing and of the connection. */
  readonly lines: readonly string[];
  readonly framing: Framing;
  readonly keepsAlive: boolean;
  /** No body follows, even if the answer has one. */
  readonly isBodiless: boolean;
}

/** The parts of a request on which the head of its answer depends. */
export interface AnsweredRequest {
  readonly isHead: boolean;
  /** False in HTTP/1.0. */
  readonly knowsChunks: boolean;
  /** Whether both the client and this server want to keep the connection. */
  readonly keepsAlive: boolean;
}

/** Fields that only this module writes. */
const WRITTEN_HERE: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The characters that a value may contain: each is a byte on the wire. Anything else could end the line. RFC 9110 §5.5.
 */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A status whose answers have no content, but a length. RFC 9110 §15.3.6. */
const RESET_CONTENT = 205;

/**
 * Makes the head of an answer. RFC 9110 §6.6.1, §8.6; RFC 9112 §6. `strictTransportSecurity` replaces the answer's field
 * of that name.
 */
export function answerHead(answer: Answer, request: AnsweredRequest, strictTransportSecurity?: string): AnswerHead {
  const framing = framingOf(answer, request);
  const keepsAlive = request.keepsAlive && framing.kind !== "close";
  const lines: string[] = [];
  let hasDate = false;
  for (const [name, value] of answer.fields) {
    if (WRITTEN_HERE.has(name)) continue;
    if (!VALUE.test(value)) continue; // Node's parsers reject such characters.
    if (name === "date") hasDate = true;
    if (name === "strict-transport-security" && strictTransportSecurity !== undefined) continue;
    if (name === "www-authenticate") for (const challenge of challengesIn(value)) lines.push(name, challenge);
    else lines.push(name, value);
  }
  if (!hasDate) lines.push("date", httpDate());
  if (strictTransportSecurity !== undefined) lines.push("strict-transport-security", strictTransportSecurity);
  lines.push("connection", keepsAlive ? "keep-alive" : "close");
  if (framing.kind === "length") lines.push("content-length", String(framing.bytes));
  if (framing.kind === "chunked") lines.push("transfer-encoding", "chunked");
  const { status, statusText } = answer;
  const reason = (VALUE.test(statusText) && statusText) || reasonPhrase(status);
  const isBodiless = request.isHead || framing.kind === "none" || status === RESET_CONTENT;
  return { status, reason, lines, framing, keepsAlive, isBodiless };
}

/** Makes an interim response, which has only a head. RFC 9110 §8.6, §15.2. */
export function interimHead({ status, fields }: InterimResponse): AnswerHead {
  const kept = [...fields].filter(([name, value]) => !WRITTEN_HERE.has(name) && name !== "date" && VALUE.test(value));
  const reason = reasonPhrase(status);
  return { status, reason, lines: kept.flat(), framing: { kind: "none" }, keepsAlive: true, isBodiless: true };
}

/** The head as it goes over the wire, in latin1. */
export function headText({ status, reason, lines }: AnswerHead): string {
  let text = `HTTP/1.1 ${status} ${reason}\r\n`;
  for (let at = 0; at < lines.length; at += 2) text += `${lines[at]}: ${lines[at + 1]}\r\n`;
  return `${text}\r\n`;
}

/** The length of a body, also of one that is still arriving; `null` if it is unknown. */
export function bodyLength({ fields, body }: Answer): number | null {
  const announced = body instanceof Uint8Array ? body.byteLength : body && nodeBody(body).lengthBytes;
  return announced ?? lengthIn(fields.get("content-length"));
}

function framingOf(answer: Answer, { isHead, knowsChunks }: AnsweredRequest): Framing {
  const { status, body } = answer;
  if (status < 200 || status === 204 || status === 304) return { kind: "none" };
  if (status === RESET_CONTENT || (body === null && !isHead)) return { kind: "length", bytes: 0 };
  const bytes = bodyLength(answer);
  if (bytes !== null) return { kind: "length", bytes };
  if (isHead) return { kind: "none" };
  return { kind: knowsChunks ? "chunked" : "close" };
}

function lengthIn(text: string | null): number | null {
  return text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

let second = 0;
let text = "";

/** The time in the form of a `Date` field, made once a second. RFC 9110 §5.6.7. */
function httpDate(now = Date.now()): string {
  const current = Math.floor(now / 1000);
  if (current !== second) {
    second = current;
    text = new Date(current * 1000).toUTCString();
  }
  return text;
}
