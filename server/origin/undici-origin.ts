import { lookup } from "node:dns";
import { isIP, type LookupFunction, type Socket } from "node:net";
import { checkServerIdentity } from "node:tls";
import buildConnector from "undici/lib/core/connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import type { Bodies, StreamedBody } from "../../worker/ports/bodies.ts";
import type { Origin, OriginAnswer, OriginFailure, OriginRequest } from "../../worker/ports/origin.ts";
import { logsInConnection } from "../../worker/rules/identity/connection-login.ts";
import { isSafeMethod } from "../../worker/rules/invalidation/safe-method.ts";
import { MOST_RESPONSE_FIELD_BYTES } from "../../worker/site/most-response-fields.ts";
import { nodeBody } from "../bodies/node-body.ts";
import { systemClock } from "../system-clock.ts";
import { AddressesOfName } from "./addresses-of-name.ts";
import { AnswerDeadline } from "./answer-deadline.ts";
import type { OriginAddress } from "./origin-address.ts";
import { OriginExchange } from "./origin-exchange.ts";
import { isClosedConnection } from "./origin-failure.ts";
import { renewingClient } from "./renewing-client.ts";
import { sharedLookup } from "./shared-lookup.ts";

export interface UndiciOriginOptions {
  readonly address: OriginAddress;
  /** How long the head of an answer may take, with the connection: milliseconds. A body may take any time. */
  readonly timeoutMs: number;
  readonly bodies: Bodies;
  /** How long a body may pause: milliseconds, about. Default: 5 minutes. */
  readonly silenceMs?: number;
  /** How long a connection may take, of that time: milliseconds. Default: all of it. */
  readonly connectTimeoutMs?: number;
  /** Connections at a time; what is more waits, in the time of `timeoutMs`. Default: without a limit. */
  readonly maxConnections?: number | null;
  /** The host in `Host`, if it is not that of the address. */
  readonly host?: string | undefined;
  /** Finds the addresses of a name; if one does not answer, the next is tried. Default: as the system does. */
  readonly lookup?: LookupFunction;
  /** Gets a line for the owner's log if an address of a name keeps connections waiting. Default: nobody is told. */
  readonly say?: (line: string) => void;
  /** Whether `Host` is the public host, as in `X-Forwarded-Host`. Default: the host of the address. */
  readonly tellsPublicHost?: boolean;
  /**
   * How long an idle connection is kept if the origin sends no `Keep-Alive: timeout`: milliseconds. Default: 1.5 s, because
   * gunicorn closes its own after 2 s, and a POST that meets a closed one fails.
   */
  readonly keepAliveMs?: number;
  /**
   * For https: a certificate authority of one's own, for instance. The name for SNI and in the certificate is that of the
   * URL; of an IP address, or with `tellsPublicHost`, that in `Host`. With `host`, the certificate may have that name instead.
   */
  readonly tls?: { readonly ca?: string; readonly rejectUnauthorized?: boolean };
}

type WriteDone = Parameters<Socket["_write"]>[2];

/** How often a request is sent again at most. Each time, another connection of the pool has turned out to be closed. */
const MAX_RETRIES = 3;

/**
 * This bounds memory before the site's own limit is checked, which counts names once that come several times, and has room
 * for what parents add.
 */
const MAX_FIELD_BYTES = 2 * MOST_RESPONSE_FIELD_BYTES;

/** How long one address of a name may take before the next one is tried: milliseconds. Node's 250 gives up far ones. */
const NEXT_ADDRESS_AFTER_MS = 1_000;

/** Fields that the connection writes itself. RFC 9110 §7.6.1; a 100 was given to the client already. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/*
 * The origin over undici's pool. Its guarantees, on which this code relies:
 * - It decodes nothing, follows nothing and adds only `host` and `connection`.
 * - A body that ends early fails, but for a reset of one that ends with its connection, which `OriginExchange` sees to; what
 *   follows an answer is not taken for the next one.
 * - It does not use an idle connection before having seen that nothing has come on it.
 * It closes the connection after each HEAD, because some servers send a body.
 */
export class UndiciOrigin implements Origin {
  readonly url: string;
  /** How long the head of an answer may take. */
  readonly timeoutMs: number;
  readonly #bodies: Bodies;
  readonly #tellsPublicHost: boolean;
  readonly #host: string | undefined;
  readonly #pool: Pool;
  /** The name for SNI; `null` for the one in `Host`. */
  readonly #serverName: string | null;
  /** How many bytes a connection had brought when it failed. */
  readonly #readBefore = new WeakMap<object, number>();
  /** The error of a connection, while undici is told of it. */
  #brokenBy: Error | null = null;

  constructor({ address, timeoutMs, bodies, tellsPublicHost = false, tls, ...options }: UndiciOriginOptions) {
    this.url = address.url;
    this.timeoutMs = timeoutMs;
    this.#bodies = bodies;
    this.#tellsPublicHost = tellsPublicHost;
    this.#host = options.host;
    const { origin, hostname } = new URL(address.url);
    const isNamed = !hostname.startsWith("[") && !isIP(hostname);
    this.#serverName = isNamed && !tellsPublicHost ? hostname : null;
    const socketPath = address.socketPath === null ? {} : { socketPath: address.socketPath };
    const check = options.host === undefined ? checkServerIdentity : namedAlso(options.host);
    const elapsed = () => systemClock.elapsed();
    const addresses = new AddressesOfName(hostname, elapsed, options.say ?? (() => undefined));
    const connect = buildConnector({
      ...tls,
      checkServerIdentity: tellsPublicHost ? namedForVisitors(check) : check,
      ...socketPath,
      allowH2: false,
      lookup: sharedLookup(options.lookup ?? lookup, elapsed, (found) => addresses.inOrder(found)),
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
      timeout: options.connectTimeoutMs ?? timeoutMs,
    });
    this.#pool = new Pool(origin, {
      allowH2: false,
      connections: options.maxConnections ?? null,
      maxHeaderSize: MAX_FIELD_BYTES,
      // Not undici's `clientTtl`: `connections` would not count the old ones that are busy.
      ...(isNamed && address.socketPath === null && { factory: renewingClient }),
      keepAliveTimeout: options.keepAliveMs ?? 1_500,
      headersTimeout: 0, // undici's timeout would not include the wait for a connection.
      bodyTimeout: options.silenceMs ?? 300_000,
      connect: (target, callback) => {
        const socket = connect(target, callback) as unknown as Socket | undefined;
        if (socket) readBeforeFailing(socket);
        if (socket) addresses.watch(socket);
        socket?.prependListener("error", (error) => {
          this.#readBefore.set(error, socket.bytesRead);
          this.#brokenBy = error;
          queueMicrotask(() => {
            this.#brokenBy = null;
          });
        });
      },
    });
  }

  async fetch(request: OriginRequest): Promise<OriginAnswer> {
    const deadline = new AnswerDeadline(this.timeoutMs);
    const answer = await this.fetchBefore(deadline, request);
    deadline.end();
    return answer;
  }

  /** Does as `fetch`, in the time that is left. */
  async fetchBefore(deadline: AnswerDeadline, request: OriginRequest): Promise<OriginAnswer> {
    for (let tries = 0; ; tries++) {
      const exchange = new OriginExchange(request.method === "HEAD", () => this.#brokenBy, request.inform);
      deadline.onPassed = () => exchange.timeOut();
      this.#dispatch(request, exchange, deadline);
      const answer = await exchange.answer;
      if (answer.kind !== "failed" || tries >= MAX_RETRIES || !this.#mayTryAgain(request, exchange, answer)) {
        return answer;
      }
    }
  }

  /** Ends the connections. Requests that run are cut off. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #dispatch(request: OriginRequest, exchange: OriginExchange, deadline: AnswerDeadline): void {
    const { method, pathAndQuery, fields, body } = request;
    const headers: string[] = [];
    if (this.#tellsPublicHost) headers.push("host", publicHostOf(fields));
    else if (this.#host !== undefined) headers.push("host", this.#host);
    let upgrade: string | null = null;
    for (const [name, value] of fields) {
      if (name === "upgrade") upgrade = value;
      if (!NOT_SENT.has(name)) headers.push(name, value);
    }
    const lengthBytes = body && nodeBody(body).lengthBytes;
    if (lengthBytes !== null) headers.push("content-length", String(lengthBytes));
    const sent = body && (this.#pieces(body, deadline) as never);
    // Such a connection ends with its answer. `false` would keep one that undici ends for another reason.
    const ended = fields.some(logsInConnection) && { reset: true };
    // undici's types do not have the name. Without it, undici takes that in `Host`, and connects anew for each other one.
    const options = {
      path: pathAndQuery,
      method,
      headers,
      upgrade,
      body: sent,
      servername: this.#serverName,
      ...ended,
    };
    try {
      this.#pool.dispatch(options, exchange);
    } catch (cause) {
      // undici refuses what it cannot send.
      exchange.onResponseError(undefined, cause as Error);
    }
  }

  async *#pieces(body: StreamedBody, deadline: AnswerDeadline): AsyncGenerator<Uint8Array> {
    const reader = this.#bodies.readThrough(body);
    const next = async () => {
      deadline.pause();
      const piece = await reader.next();
      deadline.begin();
      return piece;
    };
    let isWhole = false;
    try {
      for (let piece = await next(); piece !== null; piece = await next()) yield piece;
      isWhole = true;
    } finally {
      if (!isWhole) await reader.cancel().catch(() => undefined);
    }
  }

  /**
   * Whether the request met a connection that the origin had just closed, and may be sent on another one: it was not sent, or
   * it changes nothing, its body is not spent, and nothing of an answer has come. RFC 9110 §9.2.2, RFC 9112 §9.3.1.
   */
  #mayTryAgain(
    { method, body }: OriginRequest,
    { hasBegun }: OriginExchange,
    { cause, wasNeverSent }: OriginFailure,
  ): boolean {
    if (!wasNeverSent && (hasBegun || body !== null || !isSafeMethod(method))) return false;
    if (!isClosedConnection(cause)) return false;
    const told = (cause as { readonly socket?: { readonly bytesRead?: number } }).socket?.bytesRead;
    const bytesRead = told ?? this.#readBefore.get(cause as object) ?? 0;
    return bytesRead > 0; // It had carried an answer before.
  }
}

/**
 * An origin may answer, and close, before it has the whole body. Node destroys a socket at once when a write fails, with the
 * answer unread, so a write to a closed connection fails once that has been read. RFC 9112 §9.3, §9.5.
 */
function readBeforeFailing(socket: Socket): void {
  const { _write, _writev } = socket;
  const afterReading = (done: WriteDone): WriteDone => {
    return (error) => {
      if (!isClosedConnection(error) || socket.readableEnded) done(error);
      else socket.once("end", () => done(error));
    };
  };
  socket._write = (piece, encoding, done) => _write.call(socket, piece, encoding, afterReading(done));
  socket._writev = (pieces, done) => _writev!.call(socket, pieces, afterReading(done));
}

/** Several servers of one site may all have its certificate, or each one of its own. */
function namedAlso(host: string): typeof checkServerIdentity {
  const { hostname } = new URL(`https://${host}`);
  return (name, certificate) => checkServerIdentity(name, certificate) && checkServerIdentity(hostname, certificate);
}

/** The public host is the name for SNI, too, which an owner may not expect who names the origin by another. */
function namedForVisitors(check: typeof checkServerIdentity): typeof checkServerIdentity {
  return (name, certificate) => {
    const error = check(name, certificate);
    if (error) error.message += ' With forward.host "visitor", the certificate must be for the public host.';
    return error;
  };
}

/** The public host, which the edge writes into each request: never the client's own `Host`. */
function publicHostOf(fields: OriginRequest["fields"]): string {
  return fields.find(([name]) => name === "x-forwarded-host")![1];
}
