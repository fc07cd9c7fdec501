import { PROBLEM_CODES, type Problem, type ProblemCode } from "../wire/problem.ts";
import type { AnswerHead } from "./answer.ts";
import { unexpected } from "./no-answer.ts";
import { PurgeConflict } from "./purge-conflict.ts";
import type { PurgeError } from "./purge-error.ts";
import { PurgeForbidden } from "./purge-forbidden.ts";
import { PurgeRejected } from "./purge-rejected.ts";
import { PurgeUnauthorized } from "./purge-unauthorized.ts";
import { PurgeUnreachable } from "./purge-unreachable.ts";

/** The error for what an edge refused. The status decides; the problem is the `cause` and gives the details. */
export function refusal(answer: AnswerHead, cause: Problem): PurgeError {
  const { endpoint, status, attempts } = answer;
  const code = codeOf(status);
  switch (code) {
    case "invalid":
    case "too-large":
    case "unsupported-media-type": {
      const errors = cause.errors ?? [];
      return new PurgeRejected(
        `The edge at ${endpoint} refused the request (${status}) and purged nothing: ${wrongs(cause)}. Correct it and ` +
          "purge again.",
        { code, status, attempts, errors, cause },
      );
    }
    case "unauthorized":
      return new PurgeUnauthorized(
        `The edge at ${endpoint} does not know the token (401). Set TIDEMARK_TOKEN (or the option token) to one that ` +
          "it was deployed with.",
        { attempts, cause },
      );
    case "forbidden":
      return new PurgeForbidden(
        `The edge at ${endpoint} knows the token, but it may not purge (403). Use a token with the scope purge.`,
        { attempts, cause },
      );
    case "conflict":
      return new PurgeConflict(
        `The edge at ${endpoint} knows this id from another purge (409). Use an id for one purge only, or leave it out.`,
        { attempts, cause },
      );
    case "not-found":
    case "method-not-allowed":
      return new PurgeUnreachable(
        `The edge at ${endpoint} takes no purges at this address (${status}). Is it of another version than this package?`,
        { code, status, retryable: false, attempts, cause },
      );
    case "rate-limited":
    case "unavailable":
    case undefined:
      return unexpected(answer, `with the problem ${JSON.stringify(cause.code)}`, cause);
  }
}

function codeOf(status: number): ProblemCode | undefined {
  const codes = Object.keys(PROBLEM_CODES) as ProblemCode[];
  return codes.find((code) => PROBLEM_CODES[code].status === status);
}

const NAMED_WRONGS = 5;

function wrongs(problem: Problem): string {
  const errors = problem.errors ?? [];
  if (errors.length === 0) return problem.detail ?? problem.title;
  const named = errors
    .slice(0, NAMED_WRONGS)
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  const rest = errors.length - NAMED_WRONGS;
  return rest > 0 ? `${named.join("; ")}; and ${rest} more` : named.join("; ");
}
