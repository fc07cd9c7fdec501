import type { Answer, AnsweredEvent } from "../../ports.ts";
import type { XCache } from "../../rules/forwarding/cache-status.ts";
import type { RequestContext } from "../request-context.ts";

/** The bytes of an answer's body. A body that streams has the announced length, or else that of what is stored. */
export function bodyBytesOf({ body, bodyBytes }: Answer, storedBytes: number): number {
  if (body === null) return 0;
  return body instanceof Uint8Array ? body.byteLength : (bodyBytes ?? storedBytes);
}

/** An answer whose head is there. */
interface Answered {
  /** The slowest place that it waited for. */
  readonly tier: AnsweredEvent["tier"];
  readonly xCache: XCache;
  /** How much of its body comes out of a stored response. Default: nothing. */
  readonly cachedBytes?: number;
  /** Default: true. */
  readonly isStored?: boolean;
}

export function reportAnswered(
  { ports, resolved, arrivedAt, startedAt }: RequestContext,
  { tier, xCache, cachedBytes = 0, isStored = true }: Answered,
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
