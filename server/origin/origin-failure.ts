import { closeSync, openSync } from "node:fs";
import type { OriginFailure } from "../../worker/ports/origin.ts";

/** An error of undici or of Node. */
type Failure = Error & { readonly code?: string; readonly address?: string; readonly reason?: string };

/** undici's codes for answers that are not HTTP, or over its limits. */
const BAD_RESPONSE: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  "UND_ERR_INVALID_ARG",
]);

const TIMED_OUT: ReadonlySet<string> = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"]);

/** The corridor's word for a failure without an answer. */
export function becauseOf(error: Failure): OriginFailure["because"] {
  const code = lastAttempt(error).code ?? "";
  if (TIMED_OUT.has(code)) return "timed-out";
  // An answer that nobody asked for, or a 100, is a bad one, too.
  if (BAD_RESPONSE.has(code) || error.name === "HTTPParserError") return "bad-response";
  return /^bad (?:response|upgrade)$/.test(error.message) ? "bad-response" : "unreachable";
}

/**
 * The error, in clearer words where its own say little. undici reads no 100 (Continue), although a client has to
 * (RFC 9110 §15.2), and cannot be told to.
 */
export function explained(error: Error): Error {
  const words = clearerWords(error);
  if (words === null) return error;
  return Object.assign(new Error(words, { cause: error }), { code: lastAttempt(error).code });
}

function clearerWords(error: Error): string | null {
  const { message, code = "", reason = message } = lastAttempt(error);
  const lack = ownLack(error);
  if (lack !== null) return `this server lacks ${lack}: ${message}`;
  // Behind a semicolon Node names an option of its own.
  if (OF_CERTIFICATES.test(code)) return `its certificate is not trusted: ${message.split(";")[0]}. ${REMEDY}`;
  if (OF_TLS.test(code)) return `TLS failed: ${reason}. If its port is for plain HTTP, its address begins with http://`;
  return message === "bad response" ? "a 100 (Continue) came before the answer, and nobody had asked for it" : null;
}

/** Codes of OpenSSL and Node, https://nodejs.org/api/tls.html, for a certificate that is not trusted. */
const OF_CERTIFICATES = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT)/;

const REMEDY =
  "Renew it, name the host that it is for in origin.url, or name the file of a private authority in NODE_EXTRA_CA_CERTS";

/** Codes for a handshake that failed. OpenSSL's own message has the place in its source and a line break. */
const OF_TLS = /^(?:ERR_SSL_|EPROTO$)/;

/** What this machine, or this process, has no more of, by the code. */
const OWN_LACKS: ReadonlyMap<string, string> = new Map([
  ["EMFILE", "open files"],
  ["ENFILE", "open files"],
  ["ENOBUFS", "memory"],
  ["ENOMEM", "memory"],
  ["EADDRNOTAVAIL", "free ports, or an address of that kind"],
]);

/** The codes of a name without an address, which is also what comes out if the resolver may open no file. */
const NOT_RESOLVED: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN"]);

/**
 * What is lacking here, so that the origin was not asked, and nothing is known of it; `null` for all other failures.
 */
export function ownLack(error: Error): string | null {
  const { code = "" } = lastAttempt(error);
  if (NOT_RESOLVED.has(code)) return mayOpenFile() ? null : "open files";
  return OWN_LACKS.get(code) ?? null;
}

/**
 * The failure of the last of several addresses that a name has. undici makes a timeout of all if one was silent. A machine
 * without IPv6 has no address for those of IPv6, which says as little as their absence.
 */
function lastAttempt(error: Error): Failure {
  const ofAll = error.cause instanceof AggregateError ? error.cause : error;
  if (!(ofAll instanceof AggregateError)) return error;
  const errors: readonly Failure[] = ofAll.errors;
  const tried = errors.filter(({ code, address = "" }) => code !== "EADDRNOTAVAIL" || !address.includes(":"));
  return tried.at(-1) ?? errors.at(-1) ?? error;
}

function mayOpenFile(): boolean {
  try {
    closeSync(openSync("/dev/null", "r"));
    return true;
  } catch (cause) {
    return !["EMFILE", "ENFILE"].includes((cause as { readonly code?: string }).code ?? "");
  }
}

/** The codes of a connection that the other side has closed. */
const CLOSED: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Whether the origin has closed the connection, as it may do with an idle one just when a request is on its way. */
export function isClosedConnection(cause: unknown): boolean {
  return CLOSED.has((cause as { readonly code?: string } | null)?.code ?? "");
}
