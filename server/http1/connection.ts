import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { EdgeAnswer } from "../../worker/isolate.ts";
import type { PushedBody } from "../bodies/pushed-body.ts";
import type { RequestArrivals } from "../connections/arrival.ts";
import { unreadBelow } from "../connections/carriers.ts";
import { type AnswerHead, headText } from "./answer-head.ts";
import { isInRequest } from "./node-parser.ts";
import type { ClientSide, InterimWriter, NodeRequest } from "./node-request.ts";

/** After this many unanswered requests on one connection, no more are read from it until some are answered. */
const MAX_OUTSTANDING = 32;
/**
 * How many bytes the parser gets at a time on a connection with requests that wait. Node's objects for one request take
 * about 6 KiB, and a request may have as few as 18 bytes.
 */
const SLICE_BYTES = 1024;
/** More requests than this wait only if a client sends them all at once, with bodies, before it gets an answer. */
const MAX_WAITING = 256;
/** How long a client may go on sending after the last bytes for it were written, like nginx's `lingering_time`. */
const LINGER_MS = 30_000;
/** The connection ends before that if nothing comes for this long, like nginx's `lingering_timeout`. */
const LINGER_QUIET_MS = 5_000;
/** The same for a connection that ends while it is idle: its client has read its answers, and a stop waits for it. */
const IDLE_LINGER_QUIET_MS = 2_000;
/** How long an idle connection is kept while the listener stops: a request may be on its way to it. */
const IDLE_GRACE_MS = 1_000;

/** A request that Node's parser has read, with the object for its answer. */
export interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

/** A request that went to the isolate before Node made its own objects for it. */
export interface AskedEarly {
  readonly request: NodeRequest;
  readonly answer: EdgeAnswer | Promise<EdgeAnswer>;
  readonly startedAt: number;
}

/** A request for which Node makes its own objects only if it cannot be answered without them. */
export interface HeldRequest extends AskedEarly {
  /** Makes Node create its objects for it after all. */
  readonly head: { giveToNode(): void };
}

/** A request whose body is still arriving. */
export interface Upload {
  readonly message: IncomingMessage;
  readonly body: PushedBody;
}

/** One connection of a client, with the requests on it that wait for their answers. */
export class Connection implements InterimWriter, ClientSide {
  readonly socket: Socket;
  /** Its place among the open connections, which `OpenConnections` keeps. */
  place = 0;
  /** How each of its requests has arrived. */
  readonly arrivals: RequestArrivals;
  /** It arrived when there were already as many connections as allowed. */
  readonly isOverLimit: boolean;
  /** Requests that were read and are not yet answered in full. */
  outstanding = 0;
  /** Requests that it has carried. */
  requests = 0;
  /** Complete heads of requests. Only the fast path counts them. */
  heads = 0;
  /** The last request that was read. Only its answer may end the connection, unless that is impossible. */
  newest: Exchange | undefined;
  /** True once the last answer, with `Connection: close`, is being written. Later requests get no answer. */
  isLast = false;
  /** Requests that came after the last answer. */
  #unanswerable = 0;
  /** The answer to a request that the listener refuses, or to `unswitched`. Later bytes do not count as a request. */
  final: ServerResponse | undefined;
  /**
   * The first request whose wish for another protocol is not fulfilled, with bytes that may have come behind it in one
   * piece. Node's parser stops behind it all the same, and Node drops those bytes.
   */
  unswitched: IncomingMessage | undefined;
  isTunnel = false;
  /** Set for the one request that the fast path gives to Node. */
  askedEarly: AskedEarly | undefined;
  /** The bytes of a BAN's head so far. */
  banHead = "";
  /** The last request with a body. Only this one can be incomplete. */
  upload: Upload | undefined;
  #held: HeldRequest | undefined;
  /** Those to tell when the client has left. Made for the first of them, because most requests wait for nothing. */
  #toTell: Set<() => void> | undefined;
  readonly #answer: (exchange: Exchange, connection: Connection) => void;
  readonly #waiting: Exchange[] = [];
  /** Takes the answers to requests that were read and are not yet answered in full. */
  readonly #due = new Set<ServerResponse>();
  readonly #stallMs: number;
  #isStallArmed = false;
  /** The bytes that waited for the client below TLS when the watch began. */
  #unread: number | null = null;
  #isPaused = false;
  /** Node's listener for the bytes that come, once the parser gets them in slices. */
  #parse: ((piece: Buffer) => void) | undefined;
  readonly #onData = (piece: Buffer): void => this.#parseSlice(piece);
  #awaitsDrain = false;
  #farewell: string | undefined;
  #endsOnceIdle = false;
  readonly #bytesBefore: number;
  #seenRequests = 0;
  #seenBytes = 0;
  #idleSince: number;
  /** The bytes written so far, and since when it is no more. Only known after the client has ended its half. */
  #written = -1;
  #silentSince = 0;
  /** The number of the head that the client is sending, and since when. The first one begins with the connection. */
  #awaitedHead: { readonly number: number; readonly since: number } | null;

  constructor(
    socket: Socket,
    arrivals: RequestArrivals,
    isOverLimit: boolean,
    stallMs: number,
    answer: (exchange: Exchange, connection: Connection) => void,
  ) {
    this.socket = socket;
    this.arrivals = arrivals;
    this.isOverLimit = isOverLimit;
    this.#stallMs = stallMs;
    this.#answer = answer;
    this.#bytesBefore = socket.bytesRead - socket.readableLength;
    this.#idleSince = performance.now();
    this.#awaitedHead = { number: 0, since: this.#idleSince };
  }

  /** True if nothing has arrived on it except a PROXY header. */
  get isUnused(): boolean {
    return this.socket.bytesRead === this.#bytesBefore;
  }

  /** Whether the next request may be answered at once: no earlier answer is due, and nothing forbids an answer. */
  get isQuiet(): boolean {
    return this.outstanding === 0 && !this.isLast && !this.isOverLimit && this.#farewell === undefined;
  }

  /** The request that waits for its answer without Node's objects. No other answer is pending then. */
  get held(): HeldRequest | undefined {
    return this.#held;
  }

  hold(request: HeldRequest): void {
    this.#held = request;
    this.outstanding++;
  }

  /** The held request is being answered without Node's objects. */
  release(): void {
    this.#held = undefined;
    this.outstanding--;
  }

  /** Writes an interim response to the one request that is due, before its answer begins. */
  writeInterim(head: AnswerHead): void {
    const { socket } = this;
    if (!socket.writable || socket.writableLength > socket.writableHighWaterMark) return;
    socket.write(headText(head), "latin1");
    if (socket.writableLength > 0) this.watchStall();
  }

  onceLeft(tell: () => void): () => void {
    const { socket } = this;
    const toTell = this.#toTell ?? new Set();
    if (this.#toTell === undefined) {
      this.#toTell = toTell;
      const tellAll = () => {
        for (const each of toTell) each();
        toTell.clear();
      };
      socket.once("end", tellAll).once("close", tellAll);
    }
    toTell.add(tell);
    if (socket.destroyed || socket.readableEnded) tell();
    return () => toTell.delete(tell);
  }

  /** Gives a held request to Node, as if its head had just arrived. */
  giveToNode(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.release();
    this.askedEarly = held;
    held.head.giveToNode();
  }

  /** Takes a request in its turn: at once, or when earlier ones leave room. */
  take(exchange: Exchange): void {
    if (this.#takesNoMore) {
      this.#unanswerable++;
      if (this.#unanswerable > MAX_WAITING) this.socket.destroy();
      else this.#readOn();
      return;
    }
    this.outstanding++;
    this.requests++;
    this.newest = exchange;
    this.#due.add(exchange.response);
    exchange.response.once("close", () => {
      this.#due.delete(exchange.response);
      this.#finished();
    });
    this.#waiting.push(exchange);
    this.#answerWaiting();
    if (this.#waiting.length > MAX_WAITING) this.socket.destroy();
    if (this.#isPaused || this.#waiting.length === 0) return;
    this.#isPaused = true;
    // The parser goes on with the bytes that it has, and Node resumes the socket after each message of them.
    process.nextTick(() => {
      if (this.#isPaused) this.socket.pause();
    });
  }

  /** Whether it answers no further request. */
  get #takesNoMore(): boolean {
    return this.isLast || this.#farewell !== undefined;
  }

  /** Whether the parser should stop, because further requests would only wait, or get no answer. */
  get hasEnough(): boolean {
    return (this.#waiting.length > 0 || this.#takesNoMore) && this.#parse === undefined;
  }

  /**
   * From now on the parser gets few bytes at a time, and none while requests wait or after the last request. `unread`:
   * the bytes that it left. Does nothing if Node's server does not listen for bytes as expected.
   */
  readInSlices(unread: Buffer | null): void {
    const { socket } = this;
    const [parse, ...others] = socket.listeners("data") as ((piece: Buffer) => void)[];
    if (parse === undefined || others.length > 0 || this.#parse !== undefined) return;
    this.#parse = parse;
    socket.off("data", parse);
    socket.on("data", this.#onData);
    socket.push(""); // Node may have stopped reading below the stream, and the stream would wait for ever.
    if (unread === null || unread.length === 0 || socket.destroyed) return;
    socket.pause();
    socket.unshift(unread);
    this.#pauseOrResume();
  }

  /** Node's HTTP no longer handles the connection. */
  leaveHttp(): void {
    this.#parse = undefined;
    this.socket.off("data", this.#onData);
  }

  /**
   * Lets the answers that are due continue after Node's HTTP has left the connection: it would tell none of them when
   * the client has read, and only the first one when the client ends.
   */
  carryOn(): void {
    const { socket } = this;
    socket.on("drain", () => {
      const [current] = this.#due;
      current?.emit("drain");
    });
    socket.once("close", () => {
      for (const response of this.#due) {
        response.destroy();
        response.emit("close"); // not every version of Node does so before it has a connection
      }
    });
    socket.resume(); // to see the client's end; the bytes are dropped
  }

  #parseSlice(piece: Buffer): void {
    const { socket } = this;
    if (this.#takesNoMore && this.newest?.message.complete !== false) return;
    const mayParse = this.#waiting.length === 0 && !isPausedByNode(socket);
    if (mayParse && piece.length <= SLICE_BYTES) {
      this.#parse!(piece);
    } else {
      // Paused, because a flowing stream would return the bytes at once.
      socket.pause();
      socket.unshift(mayParse ? piece.subarray(SLICE_BYTES) : piece);
      if (mayParse) {
        socket.resume(); // First, so that Node can pause it again.
        this.#parse!(piece.subarray(0, SLICE_BYTES));
      }
    }
    if (this.#parse !== undefined && this.#waiting.length > 0) this.#pauseOrResume();
  }

  #pauseOrResume(): void {
    this.#isPaused = this.#waiting.length > 0;
    if (this.#isPaused) this.socket.pause();
    else if (!isPausedByNode(this.socket)) this.socket.resume();
  }

  /** True if no more bytes can be read from it. */
  get isBroken(): boolean {
    return this.#farewell !== undefined;
  }

  /**
   * Writes these bytes and ends the connection, once every earlier request is answered. Within a body it only ends, because the
   * request has an answer of its own. Returns whether the bytes are an answer: false also if an earlier one ends the connection.
   */
  refuseRest(farewell: string): boolean {
    if (this.#takesNoMore) return false;
    this.giveToNode();
    const isInBody = this.failUpload("the body was cut off");
    this.#farewell = isInBody ? "" : farewell;
    if (this.outstanding === 0) this.#end();
    return !isInBody;
  }

  /**
   * Tells the reader of a body that its rest will not come; false if none is incomplete. Node tells that only as long as the
   * answer is not written.
   */
  failUpload(why: string): boolean {
    const isInBody = this.upload?.message.complete === false;
    if (isInBody) this.upload!.body.fail(new Error(why));
    return isInBody;
  }

  /** Begins to watch a client that does not read. The connection ends after a while without progress. */
  watchStall(): void {
    if (this.#isStallArmed) return;
    this.#isStallArmed = true;
    this.#unread = unreadBelow(this.socket);
    this.socket.setTimeout(this.#stallMs);
  }

  /** Watches a client whose body is wanted from now on. It has the whole time: before, it may have been kept from sending. */
  watchUpload(): void {
    this.#isStallArmed = false;
    this.watchStall();
  }

  /** Called when nothing was read or written for the time that `watchStall` allows. */
  stalled(): void {
    if (this.isTunnel) {
      this.socket.destroy();
      return;
    }
    this.#isStallArmed = false;
    this.socket.setTimeout(0);
    const upload = this.upload?.body.isRead && !this.upload.message.complete ? this.upload : undefined;
    const hasRead = unreadBelow(this.socket) !== this.#unread;
    if (hasRead) this.watchStall();
    else if (this.socket.writableLength > 0 || (upload && !upload.message.isPaused())) this.socket.destroy();
    else if (upload) this.watchStall();
  }

  /** One side of its tunnel has ended. The other one may still send, until nothing has passed for a while. */
  halfEnded(): void {
    this.socket.setTimeout(this.#stallMs);
  }

  /**
   * Ends the connection once no answer is due on it, all have been written for some time, and no head has begun to arrive:
   * now, if that is so. Not to be called while it reads.
   */
  endOnceIdle(): void {
    this.#endsOnceIdle = true;
    if (this.isLast || this.outstanding > 0 || this.isTunnel || this.#isInHead) return;
    if (this.socket.writableLength > 0) this.#endAfterGrace();
    else this.#endIdle();
  }

  /** The answers did not say that the connection ends, so the client may send its next request. */
  #endAfterGrace(): void {
    afterGrace(() => this.endOnceIdle()).unref();
  }

  /** Whether a head is arriving, and not the rest of a body, whose request may have been answered before it. */
  get #isInHead(): boolean {
    return this.newest?.message.complete !== false && (this.banHead !== "" || isInRequest(this.socket));
  }

  /**
   * A request of which nothing has arrived gets no answer, because none can follow the end. Its client may send it again.
   */
  #endIdle(): void {
    this.isLast = true;
    this.linger(IDLE_LINGER_QUIET_MS);
  }

  /**
   * Ends a connection whose client may still be sending. Closing it at once would reset it, and the client would lose
   * the answer. So after the last write, incoming bytes are read and dropped, until none come for `quietMs` or a little
   * more. RFC 9112 §9.6.
   */
  linger(quietMs = LINGER_QUIET_MS): void {
    const { socket } = this;
    socket.end();
    socket.resume();
    const dropRest = () => {
      this.#readOn();
      let { bytesRead } = socket;
      let leftMs = LINGER_MS;
      const timer = setTimeout(() => {
        leftMs -= quietMs;
        if (socket.bytesRead === bytesRead || leftMs <= 0) socket.destroy();
        else timer.refresh();
        ({ bytesRead } = socket);
      }, quietMs).unref();
      socket.once("close", () => clearTimeout(timer));
    };
    if (socket.writableLength === 0) dropRest();
    else socket.once("finish", dropRest);
  }

  /** Node may wait for a drain before it reads on, and a socket that has ended does not report one. */
  #readOn(): void {
    (this.socket as NodeServerSocket)._paused = false;
    this.socket.resume();
  }

  /**
   * Whether the connection has been idle for this long: milliseconds. A request ends that time, and so do the bytes of a head
   * and the rest of an answered request; others do not, because a client could send empty lines for ever, which the parser
   * skips (RFC 9112 §2.2).
   */
  isIdleFor(ms: number, now: number): boolean {
    const { requests, socket } = this;
    const { bytesRead } = socket;
    const isBusy = this.outstanding > 0 || this.isTunnel || socket.writableLength > 0;
    const awaitsRest = this.isLast || this.newest?.message.complete === false || this.#isInHead;
    if (isBusy || requests !== this.#seenRequests || (awaitsRest && bytesRead !== this.#seenBytes)) {
      this.#seenRequests = requests;
      this.#seenBytes = bytesRead;
      this.#idleSince = now;
    }
    return now - this.#idleSince >= ms;
  }

  /**
   * The answer to a client that has ended its half, if it has begun and been silent for this long: milliseconds. The client may
   * be gone, which only a second write would show. The time counts from the first call that finds this.
   */
  answerSilentFor(ms: number, now: number): ServerResponse | undefined {
    const { socket } = this;
    if (!socket.readableEnded) return undefined;
    const { bytesWritten } = socket;
    const [current] = this.#due;
    if (current?.headersSent !== true || socket.writableLength > 0 || bytesWritten !== this.#written) {
      this.#written = bytesWritten;
      this.#silentSince = now;
    }
    return now - this.#silentSince >= ms ? current : undefined;
  }

  /**
   * Whether the client has been sending one head for this long: milliseconds. The time counts from the first call that
   * finds the head unfinished.
   */
  isSlowHead(ms: number, now: number): boolean {
    if (!this.#isSendingHead()) this.#awaitedHead = null;
    else if (this.#awaitedHead?.number !== this.heads) this.#awaitedHead = { number: this.heads, since: now };
    return this.#awaitedHead !== null && now - this.#awaitedHead.since >= ms;
  }

  #isSendingHead(): boolean {
    const isReading = !this.#isPaused && !isPausedByNode(this.socket) && this.newest?.message.complete !== false;
    if (!isReading || this.#takesNoMore || this.isTunnel) return false;
    return this.heads === 0 || this.#isInHead;
  }

  /** A client that has stopped reading gets no more answers, so that they do not pile up in memory. */
  #isBackedUp(): boolean {
    return this.socket.writableLength > this.socket.writableHighWaterMark;
  }

  #finished(): void {
    this.outstanding--;
    this.#answerWaiting();
    if (this.outstanding > 0 || this.isLast) return;
    if (this.#farewell !== undefined) this.#end();
    else if (this.#endsOnceIdle) this.#endAfterGrace();
  }

  #answerWaiting(): void {
    if (this.socket.destroyed) this.#waiting.length = 0;
    while (this.#waiting.length > 0 && this.outstanding - this.#waiting.length < MAX_OUTSTANDING) {
      if (this.#isBackedUp()) {
        this.#awaitDrain();
        return;
      }
      this.#answer(this.#waiting.shift()!, this);
    }
    if (this.#isPaused && this.#waiting.length === 0) this.#pauseOrResume();
  }

  #awaitDrain(): void {
    if (this.#awaitsDrain) return;
    this.#awaitsDrain = true;
    this.watchStall();
    this.socket.once("drain", () => {
      this.#awaitsDrain = false;
      this.#answerWaiting();
    });
  }

  #end(): void {
    this.isLast = true;
    if (this.socket.writable) this.socket.end(this.#farewell ?? "", "latin1");
    this.linger();
  }
}

/** Calls back when a listener that stops has kept an idle connection long enough, or after the limit. Milliseconds. */
export function afterGrace(end: () => void, limitMs = IDLE_GRACE_MS): NodeJS.Timeout {
  // On a busy machine the time may be over before the requests that arrived during it have been read.
  return setTimeout(() => setImmediate(end), Math.min(IDLE_GRACE_MS, limitMs));
}

/** `_paused`: Node's server has paused the connection until answers are written. It resumes it by itself. */
type NodeServerSocket = Socket & { _paused?: boolean };

function isPausedByNode(socket: NodeServerSocket): boolean {
  return socket._paused === true;
}
