import { type AnswerHead, attemptsInWords } from "./answer.ts";
import { PurgeUnreachable } from "./purge-unreachable.ts";
import { retryAfterMs } from "./retry-after.ts";

/** The connection failed before an answer began. */
export function unreachable(endpoint: string, attempts: number, cause: unknown): PurgeUnreachable {
  return new PurgeUnreachable(
    `No connection to ${endpoint}: ${reasonOf(cause)} (${attemptsInWords(attempts)}). Is the edge running, and is ` +
      "TIDEMARK_ENDPOINT (or the option endpoint) its address?",
    { code: "unreachable", retryable: true, attempts, cause },
  );
}

/** A 502, 503 or 504, from the edge or from something in front of it. */
export function unavailable(answer: AnswerHead): PurgeUnreachable {
  const { endpoint, status, attempts } = answer;
  return new PurgeUnreachable(
    `The edge at ${endpoint} takes no purges at the moment (${status}; ${attemptsInWords(attempts)}). Purge again ` +
      "later; if it lasts, look at the edge's log.",
    { code: "unavailable", status, retryable: true, attempts, retryAfterMs: retryAfterMs(answer.headers) },
  );
}

/** Any other 5xx. */
export function serverError(answer: AnswerHead, cause: unknown): PurgeUnreachable {
  const { endpoint, status, attempts } = answer;
  return new PurgeUnreachable(
    `The edge at ${endpoint} failed (${status}). The purge may have happened. Look at the edge's log for the reason.`,
    { code: "server-error", status, retryable: false, attempts, cause },
  );
}

/** An answer that began and did not end. */
export function incomplete(answer: AnswerHead, cause: unknown): PurgeUnreachable {
  const { endpoint, status, attempts } = answer;
  return new PurgeUnreachable(
    `The answer of ${endpoint} broke off (${status}; ${attemptsInWords(attempts)}). The purge may have happened; ` +
      "purge again to be sure.",
    { code: "incomplete-answer", status, retryable: true, attempts, cause },
  );
}

/** An answer of something that is no edge, or of one that speaks another contract. */
export function unexpected(answer: AnswerHead, how: string, cause: unknown): PurgeUnreachable {
  const { endpoint, status, attempts } = answer;
  return new PurgeUnreachable(
    `${endpoint} answered ${status} ${how}, which is no answer of a Tidemark edge. Check that TIDEMARK_ENDPOINT (or ` +
      "the option endpoint) is the origin that the edge serves, and that nothing in front of it answers in its place.",
    { code: "unexpected-answer", status, retryable: false, attempts, cause },
  );
}

/** `fetch` hides the reason in the cause of its own error: ECONNREFUSED, ENOTFOUND, UND_ERR_SOCKET, a certificate's. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  const code = "code" in error ? String(error.code) : "";
  return [code, error.message].filter((text) => text !== "").join(", ") || error.name;
}
