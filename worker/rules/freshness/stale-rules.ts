import type { ReuseRules } from "../directives/reuse-rules.ts";

/** The owner's rules for stale answers. They cover responses that do not say the same themselves. */
export interface StaleRules {
  /** How long a stale response may replace an error of the origin, or an answer that does not come. */
  readonly ifErrorSeconds: number;
  /** The same for an answer that does not come alone. The longer of the two counts. */
  readonly ifDisconnectedSeconds: number;
  /** Whether both also hold while the purge state is unknown (R18), although the response may have been purged. */
  readonly ifErrorWhileUnknown: boolean;
  /** How long a response that was fresh once may be served stale while it is fetched again. */
  readonly whileRevalidateSeconds: number;
  /** Whether the rules also cover a response with an `s-maxage` and no window beside it. */
  readonly overSMaxage: boolean;
}

/** Whether no directive forbids that a response is served stale. RFC 9111 §4.2.4, §5.2.2.10. */
export function mayBeStale(
  { mayServeStale, mayServeStaleOverSMaxage }: ReuseRules,
  { overSMaxage }: StaleRules,
): boolean {
  return mayServeStale || (overSMaxage && mayServeStaleOverSMaxage);
}
