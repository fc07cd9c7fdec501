/**
 * What may be done with a stored response while the purge state is unknown: no usable view is held, and nothing known
 * speaks against the response.
 */

/** A request that would be answered with a stored response, and the response's fetch. */
export interface UnknownUse {
  /** How long the fetch had begun before the request is judged, in milliseconds. */
  readonly sinceFetchMs: number;
  /** How old a view may be that judges the response: the lease, or more where its route allows that. Milliseconds. */
  readonly maxViewAgeMs: number;
  /** True if the request carries a receipt's token that has not been reached. */
  readonly awaitsToken: boolean;
}

/**
 * R8: a response that was fetched less than a lease ago may answer, since a view of that time would still be usable.
 * Any other response has to be validated. R9: a request with a receipt's token may not take even that one. A fetch in
 * the future means that the clock was set back, so its age says nothing.
 */
export function mayAnswerWhileUnknown({ sinceFetchMs, maxViewAgeMs, awaitsToken }: UnknownUse): boolean {
  return !awaitsToken && sinceFetchMs >= 0 && sinceFetchMs < maxViewAgeMs;
}

/**
 * R18: a response may stand in for an origin that failed only if the site allows it: it may have been purged meanwhile.
 */
export function mayStandInWhileUnknown(rules: { readonly ifErrorWhileUnknown: boolean }): boolean {
  return rules.ifErrorWhileUnknown;
}
