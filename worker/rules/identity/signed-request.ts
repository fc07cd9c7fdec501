/** A scheme of which nothing signs a request, or a single `token68`, as most credentials are. RFC 9110 §11.4. */
const UNSIGNED = /^(?:(?:basic|bearer|token)\s.*|(?:\S+\s+)?[\w.~+/-]+=*)$/i;

/**
 * Whether this `Authorization` may hold a signature over the request's fields, as those of Amazon's and Azure's storage do, so
 * that the origin refuses any change of them.
 */
export function maySignRequest(authorization: string | null): boolean {
  return authorization !== null && !UNSIGNED.test(authorization);
}
