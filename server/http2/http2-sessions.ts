import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { Answer } from "../../worker/ports/answer.ts";
import { joinWaitingPieces } from "../bodies/join-waiting-pieces.ts";
import { PushedBody } from "../bodies/pushed-body.ts";
import type { Answering } from "../connections/answering.ts";
import type { RequestArrivals } from "../connections/arrival.ts";
import { carrierOf, noticeReset, unreadBelow } from "../connections/carriers.ts";
import { admittedTarget, refusalAnswer } from "../connections/refusal.ts";
import { CountedWarning } from "../counted-warning.ts";
import { answeredExchange } from "../http1/answered-exchange.ts";
import { NodeRequest } from "../http1/node-request.ts";
import { MAX_FIELDS } from "../http1/request-target.ts";
import { plainAnswer } from "../http1/web-answer.ts";
import { unsent, type Written } from "../http1/write-answer.ts";
import { Allowance } from "./allowance.ts";
import { FirstPieces, FirstPiecesOfConnection } from "./first-pieces.ts";
import { http2Fields, http2Target, listBytes } from "./http2-target.ts";
import { LAST_STREAM_WITHIN_MS, mayNameLastStream } from "./last-stream.ts";
import { nodeHttp2 } from "./node-http2.ts";
import {
  cutStream,
  hasEnded,
  hasGivenUp,
  onceEnded,
  refuseStream,
  stopBody,
  writeInterimOn,
  writeStream,
} from "./write-stream.ts";

/** The parts of a listener that its sessions need. */
export interface Http2Parts extends Answering {
  readonly maxHeadBytes: number;
  readonly stallMs: number;
  readonly keepAliveMs: number;
  readonly maxRequestsPerConnection: number;
}

/** Requests of one connection at a time, as with nginx. */
const MAX_STREAMS = 128;
/** Those of a trusted proxy, with many visitors. Node still counts streams whose resets come together with new ones. */
const MAX_STREAMS_OF_PROXY = 8 * MAX_STREAMS;
/**
 * Streams that end before their answers. A browser that leaves a page resets all of its streams at once.
 * CVE-2023-44487.
 */
const RESETS = { burst: 2 * MAX_STREAMS, perSecond: 32 };
/** Streams that end in the middle of their answers, for which the client has had to wait. */
const RESETS_MIDWAY = { burst: 10 * RESETS.burst, perSecond: 10 * RESETS.perSecond };
/** Frames that each require a reply. Clients need few of them. CVE-2019-9512, CVE-2019-9515. */
const PINGS_AND_SETTINGS = { burst: 100, perSecond: 10 };
/** Malformed or empty frames of one connection. CVE-2019-9518. */
const MAX_INVALID_FRAMES = 100;
/** nghttp2's error code for a head in more than eight frames. CVE-2024-28182. */
const TOO_MANY_PIECES = -905;

/**
 * What a client may send of each body before somebody reads it: 32 MiB for all streams, 256 for those of a trusted proxy.
 * With it, an upload over 100 ms has 20 Mbit/s.
 */
const STREAM_WINDOW_BYTES = 256 * 1024;
/** What may be on its way on all streams together. Node takes it in at once, also for a stream that nobody reads. */
const CONNECTION_WINDOW_BYTES = 1024 * 1024;

const OPTIONS = {
  maxSessionInvalidFrames: MAX_INVALID_FRAMES,
  maxHeaderListPairs: MAX_FIELDS,
  /** Otherwise nghttp2 drops a field whose value has a space or tab at an end, and says nothing. */
  strictFieldWhitespaceValidation: false,
  /** nghttp2 counts all resets, and its error does not tell of a flood. So it gets more than both allowances together. */
  streamResetBurst: 2 * RESETS_MIDWAY.burst,
  streamResetRate: 2 * RESETS_MIDWAY.perSecond,
  /** In MB: none. Node does not subtract the rest of an answer that is reset. Streams and windows bound the memory. */
  maxSessionMemory: 2 ** 32 - 1,
  /** In bytes: that of Chromium. A longer head ends its stream. Sites may permit heads of more than nghttp2's 64 KiB. */
  maxSendHeaderBlockLength: 256 * 1024,
};

/** The connections of a listener that speak HTTP/2, over Node's own implementation. RFC 9113. */
export class Http2Sessions {
  readonly #parts: Http2Parts;
  readonly #sessions = new Set<Session>();
  readonly #left: () => void;
  readonly #floods: CountedWarning;
  readonly #firstPieces = new FirstPieces();
  #isClosing = false;

  /** `left` is called when a connection has ended. */
  constructor(parts: Http2Parts, left: () => void) {
    this.#parts = parts;
    this.#left = left;
    this.#floods = new CountedWarning(parts.warn);
  }

  /** Connections that were closed because they flooded the server. */
  get floods(): number {
    return this.#floods.count;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** `isOverLimit`: there are as many connections as allowed. */
  serve(socket: TLSSocket, arrivals: RequestArrivals, isOverLimit: boolean): void {
    const maxStreams = arrivals.isOfProxy ? MAX_STREAMS_OF_PROXY : MAX_STREAMS;
    const inner = nodeHttp2().performServerHandshake(socket, {
      ...OPTIONS,
      // Node ends a connection that exceeds this. Beyond `maxStreams`, a proxy then loses single requests instead.
      ...(arrivals.isOfProxy && { maxSessionRejectedStreams: 2 ** 32 - 1 }),
      settings: {
        maxConcurrentStreams: maxStreams,
        maxHeaderListSize: this.#parts.maxHeadBytes,
        initialWindowSize: STREAM_WINDOW_BYTES,
        enablePush: false,
      },
    });
    inner.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    // Visitors who read nothing behind a proxy would hold up the others.
    const firstPieces = arrivals.isOfProxy ? null : new FirstPiecesOfConnection(this.#firstPieces);
    const session = new Session(inner, socket, arrivals, maxStreams, isOverLimit, firstPieces, this.#parts, () =>
      this.#floods.add("HTTP/2 connections were closed because they flooded the server"),
    );
    this.#sessions.add(session);
    if (this.#isClosing) session.close(); // it was still in its handshake when the listener stopped
    const leave = () => {
      if (this.#sessions.delete(session)) this.#left();
    };
    inner.once("close", leave);
    carrierOf(socket).once("close", leave);
  }

  /** Ends the sessions that have carried nothing for a while. `now` is that of `performance`. */
  sweep(now: number): void {
    for (const session of this.#sessions) session.sweep(now);
  }

  /** Accepts no more requests, and ends each session after its last answer. RFC 9113 §6.8. */
  close(): void {
    this.#isClosing = true;
    for (const session of this.#sessions) session.close();
  }

  /** Resets the streams first: some clients take a connection that ends for the end of a body. */
  async destroyAll(): Promise<void> {
    for (const session of this.#sessions) session.cutStreams();
    await new Promise(setImmediate); // Then Node has sent the resets.
    for (const session of this.#sessions) session.destroy();
  }
}

/** One connection in HTTP/2. */
class Session {
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #arrivals: RequestArrivals;
  /** Requests at a time, with those that the client has cancelled and on which the edge still works. */
  readonly #maxRunning: number;
  readonly #isOverLimit: boolean;
  readonly #firstPieces: FirstPiecesOfConnection | null;
  readonly #parts: Http2Parts;
  readonly #flooded: () => void;
  readonly #resets = new Allowance(RESETS.burst, RESETS.perSecond);
  readonly #resetsMidway = new Allowance(RESETS_MIDWAY.burst, RESETS_MIDWAY.perSecond);
  readonly #pingsAndSettings = new Allowance(PINGS_AND_SETTINGS.burst, PINGS_AND_SETTINGS.perSecond);
  /** Streams that are open, and the most that were open at a time. */
  readonly #open = new Set<ServerHttp2Stream>();
  #mostOpen = 0;
  /** Streams that had ended at an earlier sweep while nothing waited for the client. */
  readonly #endedBefore = new WeakSet<ServerHttp2Stream>();
  /** Requests that the edge works on. */
  #running = 0;
  #requests = 0;
  /** Since when it is about to end. */
  #endsSince: number | null = null;
  #isPinged = false;
  #isFlooded = false;
  #idleSince = performance.now();
  /** The bytes that had left the process at the last sweep on which some were due. */
  #sentBytes = -1;
  /** The bytes that had come at the last sweep on which some were new, and when that was. */
  #heard = { bytes: -1, at: 0 };

  constructor(
    session: ServerHttp2Session,
    socket: TLSSocket,
    arrivals: RequestArrivals,
    maxStreams: number,
    isOverLimit: boolean,
    firstPieces: FirstPiecesOfConnection | null,
    parts: Http2Parts,
    flooded: () => void,
  ) {
    this.#session = session;
    this.#socket = socket;
    this.#arrivals = arrivals;
    this.#maxRunning = 2 * maxStreams;
    this.#isOverLimit = isOverLimit;
    this.#firstPieces = firstPieces;
    this.#parts = parts;
    this.#flooded = flooded;
    session.on("error", (error) => {
      if (isFlood(error)) this.#tellOfFlood();
    }); // "close" follows
    session.on("stream", (stream, pseudo, flags, raw) => this.#take(stream, pseudo, flags, raw));
    session.on("ping", () => this.#spendReply());
    session.on("remoteSettings", () => this.#spendReply());
  }

  sweep(now: number): void {
    if (this.#open.size > 0 || this.#session.closed || this.#session.destroyed) this.#endIfStuck(now);
    else if (now - this.#idleSince >= this.#parts.keepAliveMs) this.close();
  }

  /**
   * Node keeps a stream or session that has ended until its last bytes are written. It has no timer for that, and would wait
   * for ever for a client that has gone.
   */
  #endIfStuck(now: number): void {
    const carrier = carrierOf(this.#socket);
    const unreadBytes = unreadBelow(this.#socket);
    const sentBytes = carrier.bytesWritten - (unreadBytes ?? 0);
    if (sentBytes === this.#sentBytes) noticeReset(this.#socket);
    if (unreadBytes === 0) this.#freeReset();
    // nghttp2 stops reading from a client that goes on flooding, and then nothing tells that it has left.
    const isAtWork = !this.#isFlooded && [...this.#open].some((stream) => !stream.closed);
    // The kernel may hold all that is sent to a client that has gone. Behind bytes that wait, a PING could be late.
    if (carrier.bytesRead !== this.#heard.bytes) this.#heard = { bytes: carrier.bytesRead, at: now };
    else if (unreadBytes === 0 && now - this.#heard.at >= this.#parts.stallMs) this.#ping();
    if (isAtWork || sentBytes !== this.#sentBytes) {
      this.#sentBytes = sentBytes;
      this.#idleSince = now;
    } else if (now - this.#idleSince >= this.#parts.stallMs) this.#cut();
  }

  /**
   * Node keeps a stream that its client has reset without an error until all is written, and what had no room in the window
   * never is. What else has ended is gone by the next sweep if nothing waits for the client.
   */
  #freeReset(): void {
    for (const stream of this.#open) {
      if (!stream.closed) continue;
      if (this.#endedBefore.has(stream)) stream.destroy();
      this.#endedBefore.add(stream);
    }
  }

  /** Ends it after its last answer. Soon it accepts no more requests. RFC 9113 §6.8. */
  close(): void {
    if (this.#endsSince !== null || this.#session.destroyed) return;
    this.#endsSince = performance.now();
    setImmediate(() => this.#nameLastStream(0));
    // On a busy machine the time may be over before the requests that arrived during it have been read.
    const over = () => setImmediate(() => this.#nameLastStream(LAST_STREAM_WITHIN_MS));
    setTimeout(over, LAST_STREAM_WITHIN_MS).unref();
  }

  /**
   * Sends GOAWAY with the last stream that was read, if the moment is right. After a GOAWAY, Node ignores all later
   * streams, even those that the frame permits.
   */
  #nameLastStream(waitedMs: number): void {
    if (this.#session.closed || this.#session.destroyed) return;
    if (mayNameLastStream({ open: this.#open.size, mostOpen: this.#mostOpen, waitedMs })) this.#session.close();
  }

  cutStreams(): void {
    for (const stream of this.#open) cutStream(stream, "the listener stops");
  }

  destroy(): void {
    this.#session.destroy();
  }

  #cut(): void {
    this.destroy();
    carrierOf(this.#socket).destroy();
  }

  /**
   * Ends the connection unless its client answers. While Node has bytes to write, it does not read, and may not notice
   * that the client has left. RFC 9113 §6.7.
   */
  #ping(): void {
    if (this.#isPinged || this.#session.destroyed) return;
    this.#isPinged = true;
    const timer = setTimeout(() => this.#cut(), this.#parts.stallMs).unref();
    // Also called if Node cannot send it because the session closes. The session then ends with its last stream or in a sweep.
    this.#session.ping(() => {
      clearTimeout(timer);
      this.#isPinged = false;
    });
  }

  /**
   * Ends the connection after its answers, because a browser repeats what gets none, a POST as well. Node ignores later streams,
   * and nghttp2 stops reading from a client that goes on opening them. Not that of a trusted proxy, where all visitors would pay
   * for one.
   */
  #spendReset(allowance: Allowance): void {
    if (this.#arrivals.isOfProxy || this.#session.closed || this.#session.destroyed) return;
    if (allowance.take(performance.now())) return;
    this.#tellOfFlood();
    this.#session.close();
  }

  #spendReply(): void {
    if (this.#session.destroyed || this.#pingsAndSettings.take(performance.now())) return;
    this.#tellOfFlood();
    this.#session.destroy(new Error("the client floods the server"), nodeHttp2().constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #tellOfFlood(): void {
    if (!this.#isFlooded) this.#flooded();
    this.#isFlooded = true;
  }

  #take(stream: ServerHttp2Stream, pseudo: IncomingHttpHeaders, flags: number, raw: readonly string[]): void {
    stream.on("error", () => undefined); // "close" follows
    // The client reset the stream before it was handled.
    if (hasEnded(stream)) {
      this.#spendReset(this.#resets);
      return;
    }
    this.#open.add(stream);
    this.#mostOpen = Math.max(this.#mostOpen, this.#open.size);
    stream.on("close", () => {
      this.#open.delete(stream);
      this.#idleSince = performance.now();
      if (hasGivenUp(stream)) this.#spendReset(stream.headersSent ? this.#resetsMidway : this.#resets);
    });
    // Node refuses such a list as well, but only once the client has acknowledged the settings, which it may never do.
    const isTooLarge = listBytes(raw) > this.#parts.maxHeadBytes;
    if (isTooLarge || this.#running >= this.#maxRunning) {
      // After REFUSED_STREAM the client may repeat it. RFC 9113 §8.7.
      const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_REFUSED_STREAM } = nodeHttp2().constants;
      refuseStream(stream, isTooLarge ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_REFUSED_STREAM);
      this.#spendReset(this.#resets);
      return;
    }
    this.#running++;
    if (++this.#requests >= this.#parts.maxRequestsPerConnection || this.#isOverLimit) this.close();
    const hasBody = (flags & nodeHttp2().constants.NGHTTP2_FLAG_END_STREAM) === 0;
    if (hasBody) joinWaitingPieces(stream);
    const begin = () =>
      void this.#answer(stream, pseudo, raw, hasBody).finally(() => {
        this.#running--;
      });
    if (this.#endsSince === null) begin();
    else this.#beforeLastAnswer(this.#endsSince, begin);
  }

  /** Waits for the requests that have come together with this one: GOAWAY names all of them, and comes before their answers. */
  #beforeLastAnswer(endsSince: number, begin: () => void): void {
    setImmediate(() => {
      this.#nameLastStream(performance.now() - endsSince);
      begin();
    });
  }

  /** Never rejects. */
  async #answer(
    stream: ServerHttp2Stream,
    pseudo: IncomingHttpHeaders,
    raw: readonly string[],
    hasBody: boolean,
  ): Promise<void> {
    const startedAt = performance.now();
    const watch = new StallWatch(stream, this.#parts.stallMs, () => this.#ping());
    const fields = http2Fields(raw, pseudo[":authority"]);
    const arrival = this.#arrivals.of(fields, "/"); // the host is in the fields, whatever the path
    const method = pseudo[":method"]!;
    const continue_ = () => {
      if (request.awaitsContinue && !stream.headersSent && !hasEnded(stream))
        stream.additionalHeaders({ ":status": 100 });
      request.awaitsContinue = false;
    };
    // Nobody reads the body of a GET. On each connection 32 MiB of them could wait, as long as the answers do.
    const isRead = method !== "GET" && method !== "HEAD";
    if (hasBody && !isRead) stream.resume();
    const body = hasBody && isRead ? bodyOf(stream, fields.get("content-length"), watch, continue_) : null;
    const request = new NodeRequest(method, fields, body, arrival);
    request.interims = { takesHints: true, writeInterim: (head) => writeInterimOn(stream, head) };
    request.client = { onceLeft: (tell) => onceEnded(stream, tell) };
    const expectation = fields.get("expect");
    request.awaitsContinue = expectation !== null;
    const target = admittedTarget(http2Target(pseudo, fields, arrival.scheme), this.#isOverLimit, expectation);
    const asked = target.kind === "refused" ? refusalAnswer(target) : this.#parts.ask(request, target.url);
    const answered = asked instanceof Promise ? await asked.catch((cause) => this.#parts.failed(cause)) : asked;
    const answer = plainAnswer(answered);
    const hasLeft = hasGivenUp(stream);
    const written = await this.#write(stream, request, answer, watch);
    if (hasBody && !stream.readableEnded) stopBody(stream);
    const line = { method, url: pseudo[":path"] ?? "", httpVersion: "2.0" };
    this.#parts.log?.record(answeredExchange(line, request, answer, written, startedAt, hasLeft));
  }

  async #write(stream: ServerHttp2Stream, request: NodeRequest, answer: Answer, watch: StallWatch): Promise<Written> {
    if (hasEnded(stream)) return unsent(answer);
    const asked = { isHead: request.method === "HEAD", knowsChunks: true, keepsAlive: true };
    try {
      const made = this.#parts.made[request.arrival.scheme].make(answer, asked);
      const waits = (isWaiting: boolean) => watch.writes(isWaiting);
      return await writeStream(stream, made, answer, this.#parts.bodies, { waits, firstPieces: this.#firstPieces });
    } catch (cause) {
      this.#parts.warn(`An HTTP/2 answer could not be written: ${String(cause)}`);
      cutStream(stream, "the answer could not be written");
      return { bodyBytes: 0, isWhole: false };
    }
  }
}

/** Whether Node has ended a connection because its client flooded it. */
function isFlood({ code, errno }: NodeJS.ErrnoException): boolean {
  return code === "ERR_HTTP2_TOO_MANY_INVALID_FRAMES" || errno === TOO_MANY_PIECES;
}

/** Ends a stream whose client reads or sends too slowly. */
class StallWatch {
  readonly #stream: ServerHttp2Stream;
  readonly #ms: number;
  readonly #stalled: () => void;
  #isArmed = false;
  #isWriting = false;
  #isReading = false;

  constructor(stream: ServerHttp2Stream, ms: number, stalled: () => void) {
    this.#stream = stream;
    this.#ms = ms;
    this.#stalled = stalled;
  }

  writes(isWaiting: boolean): void {
    this.#isWriting = isWaiting;
    if (isWaiting) this.#begin();
  }

  reads(isWaiting: boolean): void {
    this.#isReading = isWaiting;
    if (isWaiting) this.#begin();
  }

  /**
   * Node restarts the timer with each piece that is read or written, but not after it has expired, for example while
   * the origin was slow.
   */
  #begin(): void {
    if (this.#stream.destroyed) return;
    this.#stream.setTimeout(this.#ms);
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.#stream.on("timeout", () => {
      if (!this.#isWriting && !this.#isReading) return;
      cutStream(this.#stream, "the client stalls");
      this.#stalled();
    });
  }
}

/** The body of a request, which is read when somebody reads it. Until then the client may fill its window. */
function bodyOf(stream: ServerHttp2Stream, length: string | null, watch: StallWatch, begun: () => void): PushedBody {
  const gone = () => body.fail(new Error("the client hung up in the middle of its request"));
  const body = new PushedBody(length === null ? null : Number(length), {
    begin: () => {
      const ended = () => {
        watch.reads(false);
        if (stream.aborted) gone();
        else body.end();
      };
      watch.reads(true);
      // A body without bytes ends before anybody reads it.
      if (stream.readableEnded) ended();
      else if (stream.destroyed) gone();
      stream.on("data", (piece: Buffer) => body.push(piece));
      stream.on("end", ended);
      stream.on("aborted", gone);
      stream.on("close", gone);
      begun();
    },
    pause: () => {
      watch.reads(false);
      stream.pause();
    },
    resume: () => {
      watch.reads(true);
      stream.resume();
    },
    cancel: () => {
      watch.reads(false);
      stream.resume(); // until the answer ends
    },
  });
  return body;
}
