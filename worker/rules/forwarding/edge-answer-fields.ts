/**
 * What every answer says that is the edge's own: no browser takes it for something to run, to show in a frame or to keep.
 * https://www.w3.org/TR/CSP3/, https://fetch.spec.whatwg.org/#x-content-type-options-header
 */
export const EDGE_ANSWER_FIELDS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
} as const;
