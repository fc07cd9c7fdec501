import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Answer } from "../../worker/ports/answer.ts";
import type { Bodies, BodyReader, StreamedBody } from "../../worker/ports/bodies.ts";
import { carrierOf } from "../connections/carriers.ts";
import type { Framing } from "./answer-head.ts";
import { asText, isSmall, type MadeAnswer } from "./made-answers.ts";

/** The result of writing an answer. */
export interface Written {
  readonly bodyBytes: number;
  /** False if the body was cut off, or its reader has gone. */
  readonly isWhole: boolean;
}

/** Drops an answer whose client has closed the connection. */
export function unsent({ body }: Answer): Written {
  if (body !== null && !(body instanceof Uint8Array)) drop(body);
  return { bodyBytes: 0, isWhole: false };
}

function drop(body: StreamedBody): void {
  void body.cancel().catch(() => undefined);
}

/**
 * Writes an answer over Node's own response. A stream is written as fast as the client reads, and what is returned then
 * never rejects. `stalls` is called whenever the client has to read before more can be written.
 */
export function writeAnswer(
  response: ServerResponse,
  made: MadeAnswer,
  { body }: Answer,
  bodies: Bodies,
  stalls: () => void,
): Promise<Written> | Written {
  const { head, bytes } = made;
  const { framing } = head;
  response.sendDate = false;
  response.writeHead(head.status, head.reason, head.lines as string[]);
  const isStream = body !== null && !(body instanceof Uint8Array);
  if (isStream && !head.isBodiless) return writeStream(response, body, framing, bodies, stalls);
  if (isStream) drop(body);
  if (bytes === null) return end(response, null, 0, stalls);
  return end(response, made.isText ? made.bodyText : bytes, bytes.byteLength, stalls);
}

/** Ends an answer with all of its body: bytes, or text in Latin-1. */
function end(
  response: ServerResponse,
  body: string | Uint8Array | null,
  bodyBytes: number,
  stalls: () => void,
): Written {
  if (body === null) response.end();
  else if (typeof body === "string") response.end(body, "latin1");
  else response.end(body);
  if (response.req.socket.writableLength > 0) stalls();
  return { bodyBytes, isWhole: true };
}

async function writeStream(
  response: ServerResponse,
  body: StreamedBody,
  framing: Framing,
  bodies: Bodies,
  stalls: () => void,
): Promise<Written> {
  const reader = bodies.readThrough(body);
  // The head is sent with the first piece, or alone if that has not come yet: an event stream may be silent for long.
  const sendHead = setImmediate(() => writeHead(response));
  let bodyBytes = 0;
  let wake: (() => void) | undefined;
  response.on("drain", () => wake?.());
  response.on("close", () => {
    wake?.();
    if (!response.writableEnded) void reader.cancel().catch(() => undefined);
  });
  try {
    for (;;) {
      const piece = await reader.next();
      clearImmediate(sendHead);
      if (piece === null || response.destroyed) break;
      bodyBytes += piece.byteLength;
      if (framing.kind === "length" && bodyBytes > framing.bytes) throw new Error("a body is longer than announced");
      // Text is sent in one piece with the head, which costs less than two pieces.
      const isText = bodyBytes === piece.byteLength && isSmall(piece) && framing.kind === "length";
      if (isText && bodyBytes === framing.bytes) {
        response.end(asText(piece), "latin1");
        void endOf(reader);
        return { bodyBytes, isWhole: true };
      }
      if (isText ? response.write(asText(piece), "latin1") : response.write(piece)) continue;
      stalls();
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (response.destroyed) resolve();
      });
    }
    if (response.destroyed) return { bodyBytes, isWhole: false };
    if (framing.kind === "length" && bodyBytes < framing.bytes) throw new Error("a body is shorter than announced");
    response.end();
    return { bodyBytes, isWhole: true };
  } catch {
    void reader.cancel().catch(() => undefined);
    clearImmediate(sendHead);
    if (bodyBytes === 0) writeHead(response);
    cutOff(response, framing);
    return { bodyBytes, isWhole: false };
  }
}

/** Writes the head alone. Node's own `flushHeaders` writes UTF-8, which makes two bytes of each beyond ASCII. */
function writeHead(response: ServerResponse): void {
  response.write("", "latin1");
}

/** Reads the end of a body after all announced bytes. Further bytes of the origin are dropped. */
async function endOf(reader: BodyReader): Promise<void> {
  const more = await reader.next().catch(() => null);
  if (more !== null) await reader.cancel().catch(() => undefined);
}

/**
 * Ends a connection in the middle of the body of this answer, once the answers before it are written. If the body ends
 * with the connection, only a reset shows that a part is missing. RFC 9112 §8.
 */
export function cutOff(response: ServerResponse, framing: Framing): void {
  const cut = () => cutSocket(response.req.socket, framing);
  if (response.socket) cut();
  else response.once("socket", () => process.nextTick(cut));
}

export function cutSocket(socket: Socket, framing: Framing): void {
  if (framing.kind === "close") resetSocket(socket);
  else socket.destroySoon();
}

/** Ends a unix socket, which cannot be reset. */
export function resetSocket(socket: Socket): void {
  const carrier = carrierOf(socket);
  const isUnix = carrier.remoteFamily === undefined;
  if (isUnix) socket.destroySoon();
  else carrier.resetAndDestroy();
}
