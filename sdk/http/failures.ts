/**
 * One function for each way in which a request to the edge can fail. It makes the error, with advice in its message.
 */

import { CONTROL_PLANE_CLOSED, PROBLEM_CODES, type Problem, type ProblemCode } from "../../wire/problem.ts";
import {
  listFaults,
  PurgeConflict,
  type PurgeError,
  PurgeForbidden,
  PurgeRateLimited,
  PurgeRejected,
  PurgeTimeout,
  PurgeUnauthorized,
  PurgeUnreachable,
  passedDeadline,
} from "../errors.ts";
import type { AnswerHead } from "./answer.ts";
import { retryAfterMs } from "./retry-pause.ts";

/** The connection failed before an answer began. */
export function unreachable(endpoint: string, attempts: number, cause: unknown): PurgeUnreachable {
  const reason = reasonOf(cause);
  const remedy = OF_CERTIFICATE.test(reason)
    ? "The edge's certificate is not trusted: renew it, name the host that it is for in TIDEMARK_ENDPOINT (or the option " +
      "endpoint), or name the file of a private authority in NODE_EXTRA_CA_CERTS."
    : "Check that the edge is running, and that TIDEMARK_ENDPOINT (or the option endpoint) is its address.";
  return new PurgeUnreachable(`No connection to ${endpoint}: ${reason} (${attemptsText(attempts)}). ${remedy}`, {
    code: "unreachable",
    retryable: true,
    attempts,
    cause,
  });
}

/** The same for a purge. If a connection ends after the request was sent, the outcome is unknown. */
export function purgeUnreachable(endpoint: string, attempts: number, cause: unknown): PurgeUnreachable {
  const reason = reasonOf(cause);
  if (NEVER_SENT.test(reason) || reason.endsWith(THROUGH_PROXY)) return unreachable(endpoint, attempts, cause);
  return new PurgeUnreachable(
    `The connection to ${endpoint} ended before the edge answered: ${reason} (${attemptsText(attempts)}). The purge may ` +
      "have happened; purge again to be sure.",
    { code: "unreachable", retryable: true, attempts, cause },
  );
}

/** How errors end if no connection came about through a proxy. Its URL is not shown, because it can have a password. */
export const THROUGH_PROXY = "through the proxy in HTTPS_PROXY or HTTP_PROXY";

/** How errors of a certificate that is not trusted begin. */
const OF_CERTIFICATE = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_CERT)/;

/** How errors before anything was sent begin: the codes of connections, names and certificates, and fetch's blocked ports. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|EHOSTUNREACH|ENETUNREACH|ENOENT|UND_ERR_CONNECT_TIMEOUT|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|bad port)/;

/** The deadline passed, perhaps before the first attempt. `cause` is the error of the attempt before. */
export function timedOut(
  endpoint: string,
  deadlineMs: number,
  attempts: number,
  cause: PurgeError | undefined,
): PurgeTimeout {
  if (attempts === 0) {
    return passedDeadline(
      `The purge was not sent to ${endpoint} within ${deadlineMs} ms, because others were under way. Purge again`,
      { attempts },
    );
  }
  return passedDeadline(
    `No answer from ${endpoint} within ${deadlineMs} ms (${attemptsText(attempts)}). The purge may have happened; ` +
      "purge again to be sure",
    { attempts, cause },
  );
}

/** A purge did not wait until its deadline, because the purge before, whose error is `cause`, failed at this edge. */
export function failsAgain(endpoint: string, waitedMs: number, cause: PurgeError): PurgeTimeout {
  return new PurgeTimeout(
    `${endpoint} did not answer within ${waitedMs} ms, and failed before. This purge goes on there, and may happen; ` +
      "purge again to be sure.",
    { attempts: 1, cause },
  );
}

/** A 429, from the edge or from something in front of it. */
export function rateLimited(answer: AnswerHead): PurgeRateLimited {
  const { endpoint, scope, attempts } = answer;
  const waitMs = retryAfterMs(answer.headers);
  const wait = waitMs === undefined ? "Wait" : `Wait ${Math.ceil(waitMs / 1_000)} s`;
  const [more, then] =
    scope === "read"
      ? ["requests", "try again"]
      : ["purges", "name many items in one purge instead of sending many purges"];
  return new PurgeRateLimited(
    `The edge at ${endpoint} accepts no more ${more} for now (429; ${attemptsText(attempts)}). ${wait}, then ${then}.`,
    { attempts, retryAfterMs: waitMs },
  );
}

/** A 413 without a problem report: from the edge before it read a purge, or from something in front of it. */
export function tooLarge({ endpoint, status, attempts }: AnswerHead): PurgeRejected {
  return new PurgeRejected(
    `The edge at ${endpoint}, or something in front of it, takes only smaller bodies (413), and purged nothing. Name ` +
      "fewer items in one purge, or raise the limit (nginx: client_max_body_size).",
    { code: "too-large", status, attempts, errors: [] },
  );
}

/** A status of `isUnavailable`, from the edge or from something in front of it. */
export function unavailable(answer: AnswerHead, cause?: Problem): PurgeUnreachable {
  const { endpoint, status, scope, attempts } = answer;
  const [lacks, again] = scope === "read" ? ["cannot answer", "Try again"] : ["accepts no purges", "Purge again"];
  return new PurgeUnreachable(
    `The edge at ${endpoint} ${lacks} at the moment (${status}; ${attemptsText(attempts)}). ${again} later; if this ` +
      "continues, look at the edge's log.",
    { code: "unavailable", status, retryable: true, attempts, retryAfterMs: retryAfterMs(answer.headers), cause },
  );
}

/** Any other 5xx. */
export function serverError(answer: AnswerHead, cause: unknown): PurgeUnreachable {
  const { endpoint, status, scope, attempts } = answer;
  const outcome = scope === "read" ? "" : " The purge may have happened.";
  return new PurgeUnreachable(
    `The edge at ${endpoint} failed (${status}).${outcome} Look at the edge's log for the reason.`,
    { code: "server-error", status, retryable: false, attempts, cause },
  );
}

/** An answer that began but did not end. */
export function incomplete(answer: AnswerHead, cause: unknown): PurgeUnreachable {
  const { endpoint, status, scope, attempts } = answer;
  const outcome = scope === "read" ? "Try again." : "The purge may have happened; purge again to be sure.";
  return new PurgeUnreachable(
    `The answer from ${endpoint} broke off (${status}; ${attemptsText(attempts)}). ${outcome}`,
    { code: "incomplete-answer", status, retryable: true, attempts, cause },
  );
}

/** An answer that no edge gives, or only an edge of another version. `how` describes it: `with text/html`. */
export function unexpected(answer: AnswerHead, how: string, cause: unknown): PurgeUnreachable {
  const { endpoint, status, attempts } = answer;
  return new PurgeUnreachable(
    `${endpoint} answered ${status} ${how}, which is not an answer of a Tidemark edge. Check that TIDEMARK_ENDPOINT ` +
      "(or the option endpoint) is the origin that the edge serves, and that nothing in front of the edge answers in " +
      "its place.",
    { code: "unexpected-answer", status, retryable: false, attempts, cause },
  );
}

function faultsOf({ errors = [], detail, title }: Problem): string {
  return errors.length > 0 ? listFaults(errors) : (detail ?? title).replace(/\.$/, "");
}

/** The edge refused the request. The status decides the class; the problem report gives the details and is the `cause`. */
export function refusal(answer: AnswerHead, problem: Problem): PurgeError {
  const { endpoint, status, scope, attempts } = answer;
  const isRead = scope === "read";
  const code = problemCodeOf(status);
  switch (code) {
    case "invalid":
    case "too-large":
    case "unsupported-media-type": {
      const errors = problem.errors ?? [];
      const [outcome, advice] = isRead ? ["", ""] : [" and purged nothing", " Correct it and purge again."];
      return new PurgeRejected(
        `The edge at ${endpoint} refused the request (${status})${outcome}: ${faultsOf(problem)}.${advice}`,
        { code, status, attempts, errors, cause: problem },
      );
    }
    case "unauthorized":
      return new PurgeUnauthorized(
        `The edge at ${endpoint} does not know the token (401). Set TIDEMARK_TOKEN (or, in code, the option token) to a token ` +
          "that the edge was deployed with.",
        { attempts, cause: problem },
      );
    case "forbidden":
      return forbidden(answer, problem);
    case "conflict":
      return new PurgeConflict(
        `The edge at ${endpoint} knows this id from another purge (409). Use each id for one purge only, or leave it out.`,
        { attempts, cause: problem },
      );
    case "not-found":
    case "method-not-allowed":
      return new PurgeUnreachable(
        `The edge at ${endpoint} accepts no ${isRead ? "reads" : "purges"} at this address (${status}). Check that it runs ` +
          "the same version as this package.",
        { code, status, retryable: false, attempts, cause: problem },
      );
    case "rate-limited":
    case "unavailable":
    case undefined:
      return unexpected(answer, `with the problem ${JSON.stringify(problem.code)}`, problem);
  }
}

/** A 403: the token lacks a scope, or the edge accepts no token at all. */
function forbidden({ endpoint, scope, attempts }: AnswerHead, problem: Problem): PurgeForbidden {
  const words = problem.detail?.startsWith(CONTROL_PLANE_CLOSED)
    ? `The edge at ${endpoint} accepts no token (403). ${problem.detail} Correct that in the settings of the edge.`
    : `The edge at ${endpoint} knows the token, but the token may not ${scope} (403). Use a token with the scope ${scope}.`;
  return new PurgeForbidden(words, { attempts, cause: problem });
}

function problemCodeOf(status: number): ProblemCode | undefined {
  const codes = Object.keys(PROBLEM_CODES) as ProblemCode[];
  return codes.find((code) => PROBLEM_CODES[code].status === status);
}

function attemptsText(attempts: number): string {
  return attempts === 1 ? "1 attempt" : `${attempts} attempts`;
}

/** OpenSSL's codes for bytes that are no TLS. */
const NO_TLS = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

/** `fetch` hides the reason in the cause of its own error: ECONNREFUSED, ENOTFOUND, UND_ERR_SOCKET, a certificate's. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const { code } = error as { code?: unknown };
  const isNoTls = NO_TLS.test(String(code));
  const words = isNoTls ? "the port does not speak https, perhaps http" : error.message.trim();
  return [code, words].filter(Boolean).join(", ") || error.name;
}
