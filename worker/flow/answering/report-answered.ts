import type { Answer, AnsweredEvent } from "../../ports.ts";
import type { XCache } from "../../rules/forwarding/cache-status.ts";
import type { RequestContext } from "../request-context.ts";

/** The bytes of an answer's body. A body that streams has the announced length, or else that of what is stored. */
export function bodyBytesOf({ body, bodyBytes }: Answer, storedBytes: number): number {
  if (body === null) return 0;
  return body instanceof Uint8Array ? body.byteLength : (bodyBytes ?? storedBytes);
}

/**
 * Reports an answer when its head is there. `tier`: the slowest place that it waited for. `cachedBytes`: how much of its
 * body comes out of a stored response.
 */
export function reportAnswered(
  { ports, resolved, arrivedAt, startedAt }: RequestContext,
  tier: AnsweredEvent["tier"],
  xCache: XCache,
  cachedBytes = 0,
  isStored = true,
): void {
  const { cacheKey: url, route } = resolved;
  const { pattern } = route;
  ports.reporter.report({
    kind: "answered",
    xCache,
    route: pattern,
    url,
    tier,
    cachedBytes,
    isStored,
    arrivedAt,
    startedAt,
  });
}
