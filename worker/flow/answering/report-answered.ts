import type { Answer } from "../../ports/answer.ts";
import type { AnsweredEvent } from "../../ports/reporter.ts";
import type { FoundResponse } from "../../ports/store.ts";
import type { XCache } from "../../rules/forwarding/cache-status.ts";
import type { RequestContext } from "../request-context.ts";

type Tier = AnsweredEvent["tier"];

/** Reports an answer that is being stored, or a part that was cut from it, when its head is there. */
export function reportFetched(context: RequestContext, xCache: XCache, status: number): void {
  report(context, "origin", xCache, status, 0, true);
}

/** Reports an answer that is passed on and not stored, when its head is there. */
export function reportPassedOn(context: RequestContext, xCache: XCache, status: number): void {
  report(context, "origin", xCache, status, 0, false);
}

/** Reports an answer whose body comes out of a stored response. `tier`: the slowest place that it waited for. */
export function reportFromStore(
  context: RequestContext,
  tier: Tier,
  xCache: XCache,
  answer: Answer,
  { head }: FoundResponse,
): void {
  report(context, tier, xCache, answer.status, bodyBytesOf(answer, head.bodyBytes), true);
}

/** The bytes of an answer's body. A body that streams has the announced length, or else that of what is stored. */
function bodyBytesOf({ body, bodyBytes }: Answer, storedBytes: number): number {
  if (body === null) return 0;
  return body instanceof Uint8Array ? body.byteLength : (bodyBytes ?? storedBytes);
}

function report(
  { ports, resolved, arrival }: RequestContext,
  tier: Tier,
  xCache: XCache,
  status: number,
  cachedBytes: number,
  isStored: boolean,
): void {
  const { cacheKey: url, route } = resolved;
  const { pattern } = route;
  ports.reporter.report({
    kind: "answered",
    xCache,
    status,
    route: pattern,
    url,
    tier,
    cachedBytes,
    isStored,
    arrivedAt: arrival.at,
    startedAt: arrival.startedAt,
  });
}
