/**
 * Statuses that are never stored, though the origin gives a lifetime.
 * 206, 226 and 304 are parts, changes to what the client holds, and validations (RFC 9111 §3.3, RFC 3229 §10.4.1,
 * RFC 9111 §4.3.4). RFC 6585 forbids 428, 429, 431 and 511. The others tell
 * of one request and not of its URL: of credentials it lacked (401, 407), of fields that are not in the key (406, 412,
 * 416, 417), or of its connection (408, 421, 425, 426).
 */
const NEVER_STORED = new Set([206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511]);

/** Whether a final response of this status may be stored with explicit freshness. RFC 9111 §3; RFC 9110 §15. */
export function isStorableStatus(status: number): boolean {
  return status >= 200 && status <= 599 && !NEVER_STORED.has(status);
}

/** Statuses of RFC 9110 §15 that this cache may store, and whose rules for caches it keeps. */
const UNDERSTOOD = new Set([
  200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 402, 403, 404, 405, 409, 410, 411, 413, 414, 415,
  422, 500, 501, 502, 503, 504, 505,
]);

/** Whether the rules for caching this status are known here: what `must-understand` asks. RFC 9111 §5.2.2.3. */
export function isUnderstoodStatus(status: number): boolean {
  return UNDERSTOOD.has(status);
}

/** Whether the status tells of a failure, which one odd request may have caused. RFC 9110 §15.5, §15.6. */
export function isErrorStatus(status: number): boolean {
  return status >= 400;
}
