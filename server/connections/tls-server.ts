import { constants } from "node:crypto";
import type { SecureContext, Server, TLSSocket, TlsOptions } from "node:tls";
import { ACME_TLS, type ChallengeAnswers } from "../acme/challenge-answers.ts";
import type { Carriers } from "./carriers.ts";
import { certificateChoice } from "./certificate-choice.ts";
import type { Certificate } from "./certificates.ts";
import { nodeTls } from "./node-tls.ts";
import { SESSION_CONTEXT, TicketKeys } from "./ticket-keys.ts";

/** What a worker needs to speak TLS: plain data, because it is copied between processes. */
export interface TlsSettings {
  /**
   * The first valid one serves clients that name no host, or an unknown one. The list is empty until an authority has given a
   * certificate.
   */
  readonly certificates: readonly Certificate[];
  /** All workers make the keys of their tickets from it, so that each can resume the sessions of the others. */
  readonly ticketSecret: string;
}

/** Suites with forward secrecy and authenticated encryption, as RFC 9113 §9.2.2 wants them for HTTP/2. */
const TLS_1_2_SUITES = [
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
];
const TLS_1_3_SUITES = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

/** For a client that speaks plain HTTP to a port for TLS, most often by a mistake in a proxy's settings. */
const NOT_TLS =
  "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n" +
  "400: this port speaks TLS. Ask with https.\n";

export interface TlsServerParts {
  readonly tls: TlsSettings;
  /** The protocols for RFC 7301, the preferred one first. */
  readonly protocols: readonly string[];
  /** Answers the handshakes of an authority, which are never served. Default: none are expected. */
  readonly challenges?: ChallengeAnswers | undefined;
  readonly handshakeTimeoutMs: number;
  readonly carriers: Carriers;
  /** Takes a connection after its handshake. */
  readonly serve: (socket: TLSSocket) => void;
}

/**
 * Makes a server for connections that it accepts, or gets as "connection" events, and serves them after their
 * handshakes. Without a certificate every handshake fails with an alert, except those of an authority.
 */
export function makeTlsServer(parts: TlsServerParts): Server {
  const { tls, challenges, handshakeTimeoutMs, carriers } = parts;
  const server = nodeTls().createServer({
    ...secrets(tls.certificates.length > 0 ? certificateChoice(tls.certificates)("", Date.now()) : undefined),
    SNICallback: choiceByName(tls.certificates, challenges),
    ...choiceOfProtocol(parts),
    sessionIdContext: SESSION_CONTEXT,
    handshakeTimeout: handshakeTimeoutMs,
    noDelay: true,
  });
  const serve = challenges === undefined ? parts.serve : unlessOfAuthority(parts);
  // A failure before a connection is served affects no request: it comes from scanners, old clients and connections
  // that end.
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ERR_SSL_HTTP_REQUEST") carriers.answerBelow(socket, NOT_TLS);
    socket.destroy();
  });
  server.on("connection", (carrier) => carriers.add(carrier));
  server.on("secureConnection", (socket) => carriers.join(socket, () => serve(socket)));
  const tickets = new TicketKeys(tls.ticketSecret, server);
  server.once("close", () => tickets.stop());
  return server;
}

type ByName = (name: string, done: (error: Error | null, context?: SecureContext) => void) => void;

/** Node interrupts each handshake for this callback, so there is none if one certificate serves all names. */
function choiceByName(
  certificates: readonly Certificate[],
  challenges: ChallengeAnswers | undefined,
): ByName | undefined {
  if (certificates.length > 1) {
    const contextOf = contextsByName(certificates);
    return (name, done) => done(null, contextOf(name));
  }
  if (certificates.length === 1 || challenges === undefined) return undefined;
  // TLS 1.2 needs a certificate before the protocol is known.
  return (name, done) => done(null, challenges.contextFor(name) ?? undefined);
}

interface Offered {
  readonly servername: string | false;
  readonly protocols: string[];
}

/**
 * The protocol that both sides speak. If an authority is expected, it may be the protocol for validating a name, with
 * the certificate of the challenge. With TLS 1.2, OpenSSL has chosen the suite before, so both certificates need the
 * same kind of key. RFC 7301 §3.2, RFC 8737 §3.
 */
function choiceOfProtocol({ protocols, challenges, tls }: TlsServerParts): TlsOptions {
  if (challenges === undefined) return { ALPNProtocols: [...protocols] };
  const spoken = tls.certificates.length === 0 ? [] : protocols;
  return {
    ALPNCallback(this: TLSSocket, { servername, protocols: offered }: Offered) {
      if (!offered.includes(ACME_TLS)) return spoken.find((each) => offered.includes(each));
      const context = challenges.contextFor(servername);
      if (context === null) return undefined;
      this.setKeyCert(context);
      return ACME_TLS;
    },
  };
}

/** An authority wants only the handshake, and without a certificate nobody else completes one. RFC 8737 §3. */
function unlessOfAuthority({ serve, tls }: TlsServerParts): TlsServerParts["serve"] {
  const hasCertificate = tls.certificates.length > 0;
  return (socket) => {
    if (hasCertificate && socket.alpnProtocol !== ACME_TLS) serve(socket);
    else socket.destroySoon();
  };
}

/** The contexts of all certificates, by the name that a client has sent. RFC 6066 §3. */
function contextsByName(certificates: readonly Certificate[]): (name: string) => SecureContext {
  const contexts = new Map(certificates.map((each) => [each, nodeTls().createSecureContext(secrets(each))]));
  const choose = certificateChoice(certificates);
  return (name) => contexts.get(choose(name, Date.now()))!;
}

function secrets(certificate: Certificate | undefined) {
  return {
    ...(certificate && { cert: certificate.chain, key: certificate.key }),
    minVersion: "TLSv1.2",
    ciphers: [...TLS_1_3_SUITES, ...TLS_1_2_SUITES].join(":"),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  } as const;
}
