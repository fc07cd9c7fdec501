import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { EdgeAnswer, RunningIsolate } from "../../worker/isolate.ts";
import type { Answer } from "../../worker/ports/answer.ts";
import type { Bodies } from "../../worker/ports/bodies.ts";
import type { Network } from "../../worker/rules/forwarding/trusted-proxies.ts";
import type { ChallengeAnswers } from "../acme/challenge-answers.ts";
import { joinWaitingPieces } from "../bodies/join-waiting-pieces.ts";
import { CountedWarning } from "../counted-warning.ts";
import { BareConnections } from "../http1/bare-connections.ts";
import { afterGrace, Connection, type Exchange } from "../http1/connection.ts";
import { FastAnswers } from "../http1/fast-answers.ts";
import { MadeAnswers } from "../http1/made-answers.ts";
import { NodeAnswers } from "../http1/node-answers.ts";
import type { NodeRequest } from "../http1/node-request.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import { resetSocket } from "../http1/write-answer.ts";
import { Http2Sessions } from "../http2/http2-sessions.ts";
import { nodeHttp2 } from "../http2/node-http2.ts";
import { mostConnections } from "../startup/connection-limit.ts";
import type { Children } from "../tiers/children.ts";
import type { ExchangeLog } from "./access-log.ts";
import { Arrivals, ArrivalsAtSites, type Peer, type RequestArrivals, type Scheme } from "./arrival.ts";
import { CountedWork } from "./background.ts";
import { Carriers, noticeReset } from "./carriers.ts";
import { followsNoRedirect, type HttpsRedirect, redirectToHttps } from "./https-redirect.ts";
import { OpenConnections } from "./open-connections.ts";
import { addressOf, isOfNobody, isOfUnnamed, ProxiedConnections } from "./proxied-connections.ts";
import { answerOfNoSite, type SitesByHost } from "./sites-by-host.ts";
import { makeTlsServer, type TlsSettings } from "./tls-server.ts";

/**
 * Where to listen. `scheme`: `https` for TLS. Default: `http`. The host `::` takes IPv4 as well, and port 0 is any free
 * one.
 */
export type ListenTarget = { readonly scheme?: Scheme } & (
  | { readonly host: string; readonly port: number }
  /** A unix socket. Its file must not exist. */
  | { readonly path: string }
  /** A socket that another process holds: its file descriptor, or the server that came with a message. */
  | { readonly fd: number }
  /** A socket with one handle or several. Each handle accepts one connection in a turn of the event loop. */
  | { readonly handles: readonly object[] }
);

export interface ListenerSettings {
  /** How long a client may take for the head of a request. Default: 60 s. */
  readonly headersTimeoutMs?: number;
  /**
   * How long a connection may be idle between requests; less if few more are allowed. Default: 75 s, like nginx's
   * `keepalive_timeout`.
   */
  readonly keepAliveMs?: number;
  /** How long a client may pause while it reads or sends. Default: 60 s, like nginx's `send_timeout`. */
  readonly stallMs?: number;
  /** Requests that one connection carries. Its last answer says `Connection: close`. Default: without a limit. */
  readonly maxRequestsPerConnection?: number;
  /**
   * Connections at a time; a tunnel counts as two. Above the limit a connection gets a 503; far above it, connections
   * are closed at once. Default: 20,000.
   */
  readonly maxConnections?: number;
  /** The most bytes of a request line and its fields; a larger head gets a 431. Default: 64 KiB. */
  readonly maxHeadBytes?: number;
  /** Waiting connections that the kernel holds. Default: 4096; its own limit may be lower. */
  readonly backlog?: number;
}

export interface ListenerParts {
  /** Answers all requests if there is one site. */
  readonly isolate: RunningIsolate;
  /** Several sites, each with its own isolate, trusted proxies and way to https. Default: there is one. */
  readonly sites?: SitesByHost | undefined;
  readonly bodies: Bodies;
  /** Default: nothing is logged. */
  readonly accessLog?: ExchangeLog | undefined;
  /** Gets a line for each mistake that nobody else reports. */
  readonly warn: (line: string) => void;
  /** Answer plain requests without Node's own objects. `startListener` tries first whether that works. */
  readonly usesFastAnswers: boolean;
  readonly settings?: ListenerSettings | undefined;
  /** The settings for addresses with TLS. */
  readonly tls?: TlsSettings | undefined;
  /** Answers an authority before any site or redirect. Default: none is expected. */
  readonly challenges?: ChallengeAnswers | undefined;
  /** Answers other caches that ask this one in place of the origin. Default: they count as visitors. */
  readonly children?: Pick<Children, "answer"> | undefined;
  /** The proxies whose forwarding fields count. Default: none. */
  readonly trustedProxies?: readonly Network[] | undefined;
  /**
   * Connections have to begin with a header of the PROXY protocol from a trusted proxy; others are refused. Default:
   * false.
   */
  readonly usesProxyProtocol?: boolean | undefined;
  /** Default: no redirects to https. Requests on unix sockets are never redirected. */
  readonly toHttps?: HttpsRedirect | undefined;
  /** The field of this name on all answers over TLS, in place of the origin's. RFC 6797 §6.1. Default: the origin's. */
  readonly strictTransportSecurity?: string | undefined;
}

/** The result of a graceful stop. */
export interface Stopped {
  /** Connections, beyond their handshakes, that were cut off because they took too long. */
  readonly cutOff: number;
}

/** Not imported: an import reads all that the module exports, and thereby loads Node's own `fetch` and `WebSocket`. That takes 50 ms. */
const { createServer } = process.getBuiltinModule("node:http");

const MAX_HANDSHAKE_MS = 10_000;

/** How long a connection is quiet before the kernel asks whether its client is still there: then ten times in ten seconds. */
const ASK_AFTER_MS = 50_000;

/**
 * How long an answer may be silent whose client has ended its half. Proxies such as nginx take that for the client's leave
 * at once. Less than the time between two sweeps, so that the second one finds it.
 */
const MAX_SILENCE_MS = 4_000;

/** A server for HTTP/1.0 and HTTP/1.1 over `node:http`, and for HTTP/2 over TLS, which answers by an isolate. */
export class Listener {
  readonly work: CountedWork;
  readonly #parts: ListenerParts;
  readonly #settings: Required<ListenerSettings>;
  readonly #servers: NetServer[] = [];
  readonly #connections = new OpenConnections();
  #tunnels = 0;
  readonly #proxied: ProxiedConnections;
  readonly #carriers = new Carriers(() => this.#left());
  readonly #closedAtOnce: CountedWarning;
  readonly #sweeper: NodeJS.Timeout;
  readonly #fast: FastAnswers | null;
  readonly #node: NodeAnswers;
  readonly #bare: BareConnections;
  readonly #http2: Http2Sessions;
  #isClosing = false;
  #whenEmpty: (() => void)[] = [];

  constructor(parts: ListenerParts) {
    this.#parts = parts;
    this.#settings = {
      headersTimeoutMs: 60_000,
      keepAliveMs: 75_000,
      stallMs: 60_000,
      maxRequestsPerConnection: Number.POSITIVE_INFINITY,
      maxConnections: 20_000,
      maxHeadBytes: 64 * 1024,
      backlog: 4096,
      ...parts.settings,
    };
    this.#closedAtOnce = new CountedWarning(parts.warn);
    this.work = new CountedWork((cause) => parts.warn(`A background task failed: ${String(cause)}`));
    const { accessLog, strictTransportSecurity } = parts;
    const made = { http: new MadeAnswers(), https: new MadeAnswers(strictTransportSecurity) };
    this.#proxied = new ProxiedConnections({
      trustedProxies: parts.trustedProxies ?? [],
      timeoutMs: this.#handshakeTimeoutMs,
      warn: parts.warn,
      left: () => this.#left(),
    });
    const { stallMs, maxHeadBytes, maxRequestsPerConnection } = this.#settings;
    const keepAliveMs = () => this.#keepAliveMs();
    const ask = (request: NodeRequest, url: string) => this.#ask(request, url);
    const failed = (cause: unknown) => this.#failure(cause);
    const log = accessLog ?? null;
    const { bodies, warn } = parts;
    const answering = { ask, failed, log, bodies, made, warn };
    const isLast = (connection: Connection) => this.#isLast(connection);
    this.#fast = parts.usesFastAnswers ? new FastAnswers({ ...answering, isLast }) : null;
    this.#node = new NodeAnswers({ ...answering, isLast });
    const countTunnel = () => this.#countTunnel();
    this.#bare = new BareConnections({ ...answering, maxHeadBytes, strictTransportSecurity, countTunnel });
    this.#http2 = new Http2Sessions(
      {
        ...answering,
        ...{ stallMs, maxHeadBytes, maxRequestsPerConnection },
        get keepAliveMs() {
          return keepAliveMs();
        },
      },
      () => this.#left(),
    );
    this.#sweeper = setInterval(() => this.sweep(performance.now()), this.#sweepMs).unref();
  }

  /** The open connections, with those in their TLS handshakes, and those that wait for a PROXY header. */
  get connections(): number {
    return this.#connections.size + this.#http2.size + this.#carriers.handshaking + this.#proxied.waiting;
  }

  /** How many connections in HTTP/2 were ended because they flooded the server. */
  get floods(): number {
    return this.#http2.floods;
  }

  /** How many hits were answered inside Node's parser. */
  get fastHits(): number {
    return this.#fast?.hits ?? 0;
  }

  /** How many other answers were given without Node's own objects. */
  get lateAnswers(): number {
    return this.#fast?.late ?? 0;
  }

  /** Calls back when no connection is open; at once if none is. */
  onceEmpty(tell: () => void): void {
    if (this.connections === 0) tell();
    else this.#whenEmpty.push(tell);
  }

  /** Begins to listen. Resolves to the address that Node reports; rejects if it cannot listen. */
  async listen(address: ListenTarget): Promise<AddressInfo | string | null> {
    const http = this.#makeServer();
    const inner = address.scheme === "https" ? this.#encrypt(http) : http;
    const server = this.#parts.usesProxyProtocol ? this.#proxied.before(inner) : inner;
    if (server !== http) http.emit("listening"); // begins Node's own watch for heads that take too long
    const [first, ...more] = "handles" in address ? address.handles : [address];
    await this.#listenWith(server, first!);
    for (const handle of more) {
      const { allowHalfOpen } = server as NetServer & { readonly allowHalfOpen: boolean };
      const further = createNetServer({ allowHalfOpen, noDelay: true });
      further.on("connection", (socket) => server.emit("connection", socket));
      await this.#listenWith(further, handle);
    }
    return server.address();
  }

  async #listenWith(server: NetServer, target: object): Promise<void> {
    this.#bound(server);
    server.on("connection", (socket: Socket) => socket.setKeepAlive(true, ASK_AFTER_MS));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(target, this.#settings.backlog, () => {
        server.off("error", reject);
        resolve();
      });
    });
    server.on("error", (error) => this.#parts.warn(`The listener failed: ${error.message}`));
    this.#servers.push(server);
  }

  /**
   * Stops gracefully: accepts no more connections, answers the requests so far with `Connection: close`, and cuts off
   * the rest after the limit.
   */
  async close(limitMs = 30_000): Promise<Stopped> {
    this.#isClosing = true;
    for (const server of this.#servers) server.close();
    this.#http2.close();
    const limit = Promise.withResolvers<void>();
    const timers = [afterGrace(() => this.#endIdle(), limitMs), setTimeout(limit.resolve, limitMs)];
    const empty = new Promise<void>((resolve) => this.onceEmpty(resolve));
    await Promise.race([empty.then(() => this.work.idle()), limit.promise]);
    for (const timer of timers) clearTimeout(timer);
    clearInterval(this.#sweeper);
    const cutOff = this.#connections.size + this.#http2.size; // the others have asked for nothing
    await this.#http2.destroyAll();
    for (const { socket } of this.#connections.all()) socket.destroy();
    this.#carriers.destroyAll();
    this.#proxied.destroyAll();
    return { cutOff };
  }

  /**
   * Ends connections that are idle or slow at this time of `performance.now`. The listener calls it every few seconds.
   */
  sweep(now: number): void {
    const { headersTimeoutMs } = this.#settings;
    const keepAliveMs = this.#keepAliveMs();
    this.#http2.sweep(now);
    for (const connection of this.#connections.all()) {
      const isSlow = this.#fast !== null && connection.isSlowHead(headersTimeoutMs, now);
      const silent = connection.answerSilentFor(MAX_SILENCE_MS, now);
      if (isSlow) this.#bare.refuseSlowHead(connection);
      else if (connection.isIdleFor(keepAliveMs, now)) connection.socket.destroy();
      else if (silent) cutSilent(connection.socket, silent);
      else if (connection.socket.writableLength > 0 && !connection.isTunnel) {
        noticeReset(connection.socket);
        connection.watchStall();
      }
    }
  }

  /** Connections far above the limit are closed at once. Node's own limit would count per handle. */
  #bound(server: NetServer): void {
    const { maxConnections } = this.#settings;
    const most = mostConnections(maxConnections);
    const get = () => (this.connections + this.#tunnels < most ? Number.POSITIVE_INFINITY : 0);
    Object.defineProperty(server, "maxConnections", { get });
    const words = `connections were closed without an answer, far above the ${maxConnections} that this worker takes`;
    server.on("drop", () => this.#closedAtOnce.add(words));
  }

  #makeServer(): Server {
    const { headersTimeoutMs, maxHeadBytes } = this.#settings;
    const server = createServer({
      insecureHTTPParser: false,
      requireHostHeader: false, // Hosts are checked elsewhere.
      maxHeaderSize: maxHeadBytes,
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0, // A large body may take long; `stallMs` watches it.
      keepAliveTimeout: 0, // The sweep ends idle connections.
      connectionsCheckingInterval: Math.min(5_000, headersTimeoutMs),
      noDelay: true,
      optimizeEmptyRequests: true,
      shouldUpgradeCallback: (message: IncomingMessage) => {
        const connection = this.#connections.on(message.socket);
        return connection !== undefined && this.#node.mayUpgrade(message, connection);
      },
    });
    // Node finds slow heads with a sorted list of connections, which it changes several times per request: a seventh of
    // a hit's CPU time. On the fast path the sweep finds them.
    if (this.#fast !== null) server.removeAllListeners("listening");
    // A client that has ended its half still gets its answers, unless they are silent.
    Object.assign(server, { httpAllowHalfOpen: true });
    // By default Node drops fields beyond a number, and one of those could frame the request.
    server.maxHeadersCount = 0;
    // Closing would cut off answers that are still on their way.
    server.closeIdleConnections = () => undefined;
    server.on("connection", (socket) => (isOfNobody(socket) ? socket.destroy() : this.#connected(socket)));
    server.on("request", (message, response) => this.#requested({ message, response }));
    server.on("checkContinue", (message, response) => this.#requested({ message, response }));
    server.on("checkExpectation", (message, response) => this.#requested({ message, response }));
    const bare = this.#bare;
    server.on("upgrade", (message, socket, head) => {
      this.#give(socket, (connection) => void bare.upgrade(connection, message, head));
    });
    server.on("connect", (message, socket) => {
      this.#give(socket, (connection) => bare.refuseTunnel(connection, message));
    });
    server.on("clientError", (error, socket) => this.#give(socket, (connection) => bare.misread(connection, error)));
    server.on("timeout", (socket) => this.#connections.on(socket)?.stalled());
    return server;
  }

  /** Puts TLS in front of a server, which then gets connections only from there. */
  #encrypt(http: Server): NetServer {
    const { tls, challenges } = this.#parts;
    if (!tls) throw new Error("an address with TLS needs certificates");
    nodeHttp2(); // before a client waits for it
    const server = makeTlsServer({
      tls,
      challenges,
      protocols: ["h2", "http/1.1", "http/1.0"],
      handshakeTimeoutMs: this.#handshakeTimeoutMs,
      carriers: this.#carriers,
      serve: (socket) => {
        if (socket.alpnProtocol !== "h2") {
          // As without TLS. Earlier than this, a client that ends its half leaves during its handshake.
          socket.allowHalfOpen = true;
          http.emit("connection", socket);
        } else if (isOfNobody(socket)) {
          socket.destroy();
        } else {
          this.#http2.serve(socket, this.#arrivalsOn(socket), this.#isOverLimit());
        }
      },
    });
    server.once("close", () => http.close());
    return server;
  }

  #connected(socket: Socket): void {
    const { stallMs } = this.#settings;
    const connection = new Connection(socket, this.#arrivalsOn(socket), this.#isOverLimit(), stallMs, (exchange, on) =>
      this.#node.answer(exchange, on),
    );
    this.#connections.add(connection);
    const isFast = this.#fast?.serve(connection) ?? false;
    // Node's parser cannot leave unread bytes that came with a PROXY header.
    if (!isFast || socket.readableLength > 0) connection.readInSlices(null);
    // It was still in its handshake, or waited for its PROXY header, when the listener stopped.
    if (this.#isClosing) afterGrace(() => this.#connections.on(socket)?.endOnceIdle()).unref();
    socket.once("close", () => {
      connection.failUpload("the client hung up in the middle of its request");
      this.#connections.remove(connection);
      this.#left();
    });
  }

  #arrivalsOn(socket: Socket): RequestArrivals {
    const scheme = (socket as Partial<TLSSocket>).encrypted ? "https" : "http";
    const peer: Peer = { scheme, address: addressOf(socket), isUnnamed: isOfUnnamed(socket) };
    const { sites, trustedProxies = [] } = this.#parts;
    return sites ? new ArrivalsAtSites(peer, sites) : new Arrivals(peer, trustedProxies);
  }

  /**
   * How long a connection may be idle now. In the last quarter below the limit, this is the shorter the fewer are free, so that
   * those that have been idle longest make room for new clients.
   */
  #keepAliveMs(): number {
    const { keepAliveMs, maxConnections } = this.#settings;
    const free = (maxConnections - this.#taken) / maxConnections;
    return Math.max(keepAliveMs * Math.min(free * 4, 1), this.#sweepMs);
  }

  get #sweepMs(): number {
    return Math.min(5_000, this.#settings.keepAliveMs / 4, this.#settings.headersTimeoutMs);
  }

  get #handshakeTimeoutMs(): number {
    return Math.min(this.#settings.headersTimeoutMs, MAX_HANDSHAKE_MS);
  }

  #isOverLimit(): boolean {
    return this.#taken >= this.#settings.maxConnections;
  }

  /** The connections that count for the limit. */
  get #taken(): number {
    return this.#connections.size + this.#http2.size + this.#tunnels;
  }

  /**
   * A tunnel takes the place of one more client, for its connection to the origin, which the origin's pool does not
   * count.
   */
  #countTunnel(): (() => void) | null {
    if (this.#isOverLimit()) return null;
    this.#tunnels++;
    return () => this.#tunnels--;
  }

  /** A connection has ended. */
  #left(): void {
    if (this.connections > 0) return;
    for (const tell of this.#whenEmpty.splice(0)) tell();
  }

  /** Node's HTTP has stopped handling a connection. */
  #give(socket: Duplex, take: (connection: Connection) => void): void {
    const connection = this.#connections.on(socket);
    if (connection) take(connection);
    else socket.destroy();
  }

  #requested(exchange: Exchange): void {
    // Node has ended one without a body.
    if (!exchange.message.destroyed) joinWaitingPieces(exchange.message);
    this.#connections.on(exchange.message.socket)?.take(exchange);
  }

  /** Never throws, as the isolate never does. */
  #ask(request: NodeRequest, url: string): EdgeAnswer | Promise<EdgeAnswer> {
    const { scheme, clientAddress, peerAddress, site } = request.arrival;
    const forAuthority = this.#parts.challenges?.answer(request.method, url);
    if (forAuthority) return forAuthority;
    if (site === null) return answerOfNoSite(request.method, url, this.#parts.sites?.hosts ?? []);
    const { isolate, toHttps } = site ?? this.#parts;
    const { children } = this.#parts;
    try {
      const forChild = children?.answer(request, url, this.work);
      if (forChild) return forChild;
      if (toHttps && scheme === "http" && clientAddress !== null && !followsNoRedirect(request.method, url)) {
        const elsewhere = redirectToHttps(url, toHttps);
        if (elsewhere) return elsewhere;
      }
      return isolate.fetch({ request, url, background: this.work, clientAddress, peerAddress, country: null });
    } catch (cause) {
      return this.#failure(cause);
    }
  }

  #failure(cause: unknown): Answer {
    this.#parts.warn(`The edge failed on a request: ${String(cause)}`);
    return ownAnswer(502, "failed", "the edge failed on this request");
  }

  #isLast(connection: Connection): boolean {
    return this.#isClosing || connection.requests >= this.#settings.maxRequestsPerConnection;
  }

  #endIdle(): void {
    for (const connection of this.#connections.all()) connection.endOnceIdle();
  }
}

/** From HTTP/1.1 on a body shows its end, and needs no reset, which would throw away what the client has not read yet. */
function cutSilent(socket: Socket, { req }: ServerResponse): void {
  if (req.httpVersionMinor === 0) resetSocket(socket);
  else socket.destroySoon();
}
