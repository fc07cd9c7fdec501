import type { Outcome, XCache } from "../../rules/forwarding/cache-status.ts";
import { currentAgeMs } from "../../rules/freshness/current-age.ts";
import type { StoredResponse } from "../../rules/storing/stored-response.ts";
import type { RequestContext } from "../request-context.ts";
import type { AnswerMetadata } from "./answers.ts";

/** The metadata of an answer with a stored response, as of now. */
export function answerMetadata(
  { ports, resolved }: RequestContext,
  { head }: StoredResponse,
  xCache: XCache,
  outcome: Outcome,
): AnswerMetadata {
  const ageMs = currentAgeMs(head.initialAgeMs, head.receivedAt, ports.clock.now());
  const { browserTtlSeconds } = resolved.route;
  return { xCache, outcome, ageSeconds: Math.floor(ageMs / 1000), browserTtlSeconds };
}
