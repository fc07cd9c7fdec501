import type { OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Answer } from "../../worker/ports/answer.ts";
import type { Bodies, BodyReader, StreamedBody } from "../../worker/ports/bodies.ts";
import { nodeBody } from "../bodies/node-body.ts";
import type { AnswerHead } from "../http1/answer-head.ts";
import type { MadeAnswer } from "../http1/made-answers.ts";
import type { Written } from "../http1/write-answer.ts";
import type { FirstPiecesOfConnection } from "./first-pieces.ts";
import { nodeHttp2 } from "./node-http2.ts";

/** Fields of a connection, which exist only in HTTP/1.1. RFC 9113 §8.2.2. */
const NOT_IN_HTTP2: ReadonlySet<string> = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

/** The heads of answers that may be sent again. */
const madeHeads = new WeakMap<AnswerHead, OutgoingHttpHeaders>();

function http2Head(head: AnswerHead): OutgoingHttpHeaders {
  const held = madeHeads.get(head);
  if (held) return held;
  // Without a prototype, because an origin may call a field "constructor".
  const fields: Record<string, string | string[]> = { __proto__: null as never, ":status": String(head.status) };
  for (let at = 0; at < head.lines.length; at += 2) {
    const name = head.lines[at]!.toLowerCase();
    if (NOT_IN_HTTP2.has(name)) continue;
    const value = head.lines[at + 1]!;
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  madeHeads.set(head, fields);
  return fields;
}

/** Writes an interim response, unless the answer has begun or nothing more can be written. RFC 9113 §8.1. */
export function writeInterimOn(stream: ServerHttp2Stream, head: AnswerHead): void {
  if (!stream.headersSent && !hasEnded(stream)) stream.additionalHeaders(http2Head(head));
}

const endedHere = new WeakSet<ServerHttp2Stream>();

/**
 * Ends a stream before its answer is whole, with INTERNAL_ERROR (RFC 9113 §8.1.1). Node's `close` would first send what is
 * there as if it were all.
 */
export function cutStream(stream: ServerHttp2Stream, because: string): void {
  endedHere.add(stream);
  stream.destroy(new Error(because));
}

/** Ends a stream whose request was not carried out. */
export function refuseStream(stream: ServerHttp2Stream, code: number): void {
  endedHere.add(stream);
  stream.close(code);
}

/** Whether the client has ended a stream, by a reset or by a mistake, before its answer was complete. */
export function hasGivenUp(stream: ServerHttp2Stream): boolean {
  return (stream.aborted || stream.rstCode !== nodeHttp2().constants.NGHTTP2_NO_ERROR) && !endedHere.has(stream);
}

/** The bytes that are handed over at a time, so that few bytes wait in memory for the client. */
const PIECE_BYTES = 64 * 1024;

/** The same for the first piece, which shows whether the client takes any. No window is smaller for long. */
const FIRST_PIECE_BYTES = 4 * 1024;

/** How streams of a connection wait for their client. */
export interface Waiting {
  /** Called with true whenever the client has to read before more can be written, and with false when it has. */
  waits(isWaiting: boolean): void;
  /** The places for bodies that are read on demand; `null` without a bound. */
  readonly firstPieces: FirstPiecesOfConnection | null;
}

/** Writes an answer on a stream, as fast as the client reads. Never rejects. */
export async function writeStream(
  stream: ServerHttp2Stream,
  { head, bytes }: MadeAnswer,
  { body }: Answer,
  bodies: Bodies,
  waiting: Waiting,
): Promise<Written> {
  const isStream = body !== null && !(body instanceof Uint8Array);
  const hasBody = bytes === null ? isStream && !head.isBodiless : bytes.byteLength > 0;
  if (isStream && !hasBody) void body.cancel().catch(() => undefined);
  stream.respond(http2Head(head), { endStream: !hasBody });
  if (!hasBody) return { bodyBytes: 0, isWhole: true };
  if (bytes !== null && bytes.byteLength <= PIECE_BYTES) {
    const { sent } = writePiece(stream, bytes);
    stream.end();
    waiting.waits(true);
    return { bodyBytes: bytes.byteLength, isWhole: await hasFinished(stream, sent) };
  }
  if (bytes !== null) return writePieces(stream, wholly(bytes), head, { ...waiting, firstPieces: null });
  const streamed = body as StreamedBody;
  const firstPieces = nodeBody(streamed).isReadOnDemand ? waiting.firstPieces : null;
  return writePieces(stream, bodies.readThrough(streamed), head, { ...waiting, firstPieces });
}

async function writePieces(
  stream: ServerHttp2Stream,
  reader: BodyReader,
  { framing }: AnswerHead,
  { waits, firstPieces }: Waiting,
): Promise<Written> {
  let bodyBytes = 0;
  let wake: (() => void) | undefined;
  let isWritten = false;
  let sent = Promise.resolve(true);
  stream.on("drain", () => wake?.());
  const place = firstPieces?.take();
  let isFirst = place !== undefined;
  stream.on("close", () => {
    place?.give();
    wake?.();
    if (!isWritten) void reader.cancel().catch(() => undefined);
  });
  try {
    if (place?.come) await place.come; // The client is not to blame for this wait.
    while (!hasEnded(stream)) {
      const piece = await reader.next();
      if (piece === null || hasEnded(stream)) break;
      if (framing.kind === "length" && bodyBytes + piece.byteLength > framing.bytes)
        throw new Error("a body is longer than announced");
      for (let at = 0; at < piece.byteLength && !hasEnded(stream); ) {
        const part = piece.subarray(at, at + (isFirst ? FIRST_PIECE_BYTES : PIECE_BYTES));
        at += part.byteLength;
        bodyBytes += part.byteLength;
        const written = writePiece(stream, part);
        sent = written.sent;
        if (isFirst) void sent.then(() => place!.give());
        isFirst = false;
        if (written.hasRoom) continue;
        waits(true);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (hasEnded(stream)) resolve();
        });
        waits(false);
      }
    }
    if (hasEnded(stream)) return { bodyBytes, isWhole: false };
    if (framing.kind === "length" && bodyBytes < framing.bytes) throw new Error("a body is shorter than announced");
    isWritten = true;
    // If nobody has read or paused a stream, Node resets it once all is written, although its end may wait for room in the
    // window.
    if (stream.readableFlowing === null) stream.pause();
    stream.end();
    waits(true);
    return { bodyBytes, isWhole: await hasFinished(stream, sent) };
  } catch {
    void reader.cancel().catch(() => undefined);
    cutStream(stream, "the answer is incomplete");
    return { bodyBytes, isWhole: false };
  } finally {
    place?.give();
  }
}

/** `sent`: whether the piece leaves before the stream ends. */
function writePiece(stream: ServerHttp2Stream, piece: Uint8Array): { hasRoom: boolean; sent: Promise<boolean> } {
  const { promise: sent, resolve } = Promise.withResolvers<boolean>();
  return { hasRoom: stream.write(piece, (error) => resolve(!error)), sent };
}

/** Whether all written bytes reach the client before the stream ends in another way. `sent`: of the last piece. */
function hasFinished(stream: ServerHttp2Stream, sent: Promise<boolean>): Promise<boolean> {
  const { session } = stream;
  const { NGHTTP2_NO_ERROR } = nodeHttp2().constants;
  return new Promise((resolve) => {
    // Node "finishes" a stream that the client resets, too.
    stream.once("finish", () => resolve(!stream.aborted));
    // A stream whose request has been read is closed with the last byte of its answer, and never "finishes". A client may
    // reset it with the same code.
    stream.once("close", () =>
      resolve(stream.rstCode === NGHTTP2_NO_ERROR && session?.destroyed === false ? sent : false),
    );
    if (stream.destroyed) resolve(false);
  });
}

/**
 * Stops a body that nobody reads, once the answer has been sent with its end, which may have to wait for room in the window.
 * RFC 9113 §8.1. Node does not tell when it sends the end.
 */
export function stopBody(stream: ServerHttp2Stream, waitMs = 10): void {
  if (!hasEnded(stream) && stream.state.localClose === 0) {
    setTimeout(stopBody, waitMs, stream, 2 * waitMs).unref();
    return;
  }
  stream.resume();
  if (!stream.closed) stream.close(nodeHttp2().constants.NGHTTP2_NO_ERROR);
}

/** Whether nothing more can be written, even if Node does not say so yet. */
export function hasEnded(stream: ServerHttp2Stream): boolean {
  return stream.destroyed || stream.closed;
}

/** Calls back when nothing more can be written, at once if that is so already. Returns what ends this. */
export function onceEnded(stream: ServerHttp2Stream, tell: () => void): () => void {
  stream.once("close", tell);
  if (hasEnded(stream)) tell();
  return () => stream.off("close", tell);
}

function wholly(bytes: Uint8Array): BodyReader {
  let left: Uint8Array | null = bytes;
  return {
    next: async () => {
      const piece = left;
      left = null;
      return piece;
    },
    cancel: async () => undefined,
  };
}
