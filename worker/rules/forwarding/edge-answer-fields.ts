/**
 * The fields of every answer that the edge makes itself. No browser may run it, show it in a frame or store it.
 * https://www.w3.org/TR/CSP3/, https://fetch.spec.whatwg.org/#x-content-type-options-header
 */
export const EDGE_ANSWER_FIELDS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
} as const;
