import type { Answer } from "../../worker/ports/answer.ts";
import { ownAnswer } from "../http1/own-answer.ts";
import { type RefusedRequest, type RequestTarget, refused } from "../http1/request-target.ts";

export const TOO_MANY_CONNECTIONS = refused(503, "this server has too many connections", "too-many-connections");
const OTHER_EXPECTATION = refused(417, "this server supports only the expectation 100-continue", "expectation");

/**
 * The target of a request for the edge, or why the request is refused, in either protocol. `expectation`: its `Expect`,
 * which HTTP/1.0 does not have. RFC 9110 §10.1.1.
 */
export function admittedTarget(target: RequestTarget, isOverLimit: boolean, expectation: string | null): RequestTarget {
  if (isOverLimit) return TOO_MANY_CONNECTIONS;
  if (target.kind === "refused" || expectation === null) return target;
  return expectation.toLowerCase() === "100-continue" ? target : OTHER_EXPECTATION;
}

export function refusalAnswer({ status, detail, because }: RefusedRequest): Answer {
  return ownAnswer(status, detail, because);
}
