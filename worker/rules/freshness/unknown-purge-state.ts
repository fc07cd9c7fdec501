/**
 * Rules for a stored response while the purge state is unknown: no usable view is held, and no known purge concerns the
 * response.
 */

/** The most that a site may ask for as a view's age (R6), and as its allowance for clocks (R7): milliseconds. */
export const MAX_VIEW_AGE_MS = 3_600_000;
export const MAX_SKEW_MS = 60_000;

/** The context in which a request would be answered with a stored response of unknown purge state. */
export interface UnknownUse {
  /** The time from the start of the response's fetch to the judgement, in milliseconds. */
  readonly sinceFetchMs: number;
  /** How old a view that judges the response may be, in milliseconds: the lease, or more if the route allows that. */
  readonly maxViewAgeMs: number;
  /** True if the request carries a receipt's token that has not been reached. */
  readonly awaitsToken: boolean;
}

/**
 * R8: a response that was fetched less than a lease ago may be served, because a view of that time would still be
 * usable. Any other response has to be validated. R9: a request with a receipt's token may not take even a recent one.
 * A fetch in the future means that the clock was set back, so the response's age is unknown.
 */
export function mayAnswerWhileUnknown({ sinceFetchMs, maxViewAgeMs, awaitsToken }: UnknownUse): boolean {
  return !awaitsToken && sinceFetchMs >= 0 && sinceFetchMs < maxViewAgeMs;
}

/**
 * R18: a response may replace an error of the origin only if the site allows it, because it may have been purged in the
 * meantime.
 */
export function mayStandInWhileUnknown(rules: { readonly ifErrorWhileUnknown: boolean }): boolean {
  return rules.ifErrorWhileUnknown;
}
