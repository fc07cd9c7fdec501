import type { IncomingMessage } from "node:http";
import type { Answer } from "../../worker/ports/answer.ts";
import type { AnsweredExchange } from "../connections/access-log.ts";
import type { NodeRequest } from "./node-request.ts";
import type { Written } from "./write-answer.ts";

/** nginx's status for a client that left before its answer. It appears only in logs. */
const CLIENT_LEFT = 499;

/**
 * The request as the access log shows it. `startedAt` is of `performance`. `hasLeft`: the client had ended its side of
 * the connection before the answer came. A client that did so within its own body gets an answer that says so.
 */
export function answeredExchange(
  { method, url, httpVersion }: Pick<IncomingMessage, "method" | "url" | "httpVersion">,
  { headers, arrival, body, turn }: NodeRequest,
  { status: answered, fields }: Answer,
  { bodyBytes, isWhole }: Written,
  startedAt: number,
  hasLeft: boolean,
): AnsweredExchange {
  const tookMs = performance.now() - startedAt;
  const { clientAddress, site } = arrival;
  const line = {
    clientAddress,
    site: site?.name,
    method: method!,
    target: url!,
    version: httpVersion,
    fields: headers,
  };
  const status = hasLeft && !body?.brokeOff ? CLIENT_LEFT : answered;
  return { ...line, answer: { status, fields }, bodyBytes, isWhole, tookMs, turn };
}
