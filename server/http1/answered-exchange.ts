import type { IncomingMessage } from "node:http";
import type { Answer } from "../../worker/ports/answer.ts";
import type { AnsweredExchange } from "../connections/access-log.ts";
import type { NodeRequest } from "./node-request.ts";
import type { Written } from "./write-answer.ts";

/** What the access log tells of a request. `startedAt` is of `performance`. */
export function answeredExchange(
  { method, url, httpVersion }: Pick<IncomingMessage, "method" | "url" | "httpVersion">,
  { headers: fields, arrival }: NodeRequest,
  answer: Answer,
  { bodyBytes, isWhole }: Written,
  startedAt: number,
): AnsweredExchange {
  const tookMs = performance.now() - startedAt;
  const { clientAddress, site } = arrival;
  const line = { clientAddress, site: site?.name, method: method!, target: url!, version: httpVersion, fields };
  return { ...line, answer, bodyBytes, isWhole, tookMs };
}
