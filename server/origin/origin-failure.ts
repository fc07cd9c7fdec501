import type { OriginAnswer } from "../../worker/ports/origin.ts";

type Because = Extract<OriginAnswer, { kind: "failed" }>["because"];

/** undici's codes for answers that are not HTTP, or over its limits. */
const BAD_RESPONSE: ReadonlySet<string> = new Set([
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
  "UND_ERR_INVALID_ARG",
]);

const TIMED_OUT: ReadonlySet<string> = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "ETIMEDOUT"]);

/** The corridor's word for a failure without an answer. */
export function becauseOf(error: Error & { readonly code?: string }): Because {
  const code = error.code ?? "";
  if (TIMED_OUT.has(code)) return "timed-out";
  // An answer that nobody asked for, or a 100, is a bad one, too.
  if (BAD_RESPONSE.has(code) || error.name === "HTTPParserError") return "bad-response";
  return /^bad (?:response|upgrade)$/.test(error.message) ? "bad-response" : "unreachable";
}

/**
 * The error, in clearer words where its own say little. undici reads no 100 (Continue), although a client has to (RFC 9110
 * §15.2), and cannot be told to.
 */
export function explained(error: Error): Error {
  if (isOwnLack(error))
    return new Error(`this server lacks files, ports or memory: ${error.message}`, { cause: error });
  if (error.message !== "bad response") return error;
  return new Error("a 100 (Continue) came before the answer, and nobody had asked for it", { cause: error });
}

/** The codes of what this machine, or this process, has no more of. */
const OWN_LACKS: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL"]);

/** Whether the origin was not asked for want of files, ports or memory here, which says nothing of the origin. */
export function isOwnLack({ code = "" }: Error & { readonly code?: string }): boolean {
  return OWN_LACKS.has(code);
}

/** The codes of a connection that the other side has closed. */
const CLOSED: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ECONNABORTED"]);

/** Whether the origin has closed the connection, as it may do with an idle one just when a request is on its way. */
export function isClosedConnection(cause: unknown): boolean {
  return CLOSED.has((cause as { readonly code?: string } | null)?.code ?? "");
}

/** The failures of a connection before it carries anything. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/**
 * Whether no connection came about. Otherwise a request with a body may have failed because its visitor left, was slow, or
 * sent too much.
 */
export function wasNeverSent(cause: unknown): boolean {
  return NEVER_SENT.has((cause as { readonly code?: string } | null)?.code ?? "");
}
