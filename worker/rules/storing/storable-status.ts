/**
 * Statuses that are never stored, even if the origin gives a lifetime. 206, 226 and 304 are parts, changes to the
 * client's copy, and validations (RFC 9111 §3.3, RFC 3229 §10.4.1, RFC 9111 §4.3.4). RFC 6585 forbids 428, 429, 431 and
 * 511. The others are about one request and not about its URL: about missing credentials (401, 407), fields that are
 * not in the key (406, 412, 416, 417), or the connection (408, 421, 425, 426).
 */
const NEVER_STORED = new Set([206, 226, 304, 401, 406, 407, 408, 412, 416, 417, 421, 425, 426, 428, 429, 431, 511]);

/** Whether a final response of this status may be stored with explicit freshness. RFC 9111 §3; RFC 9110 §15. */
export function isStorableStatus(status: number): boolean {
  return status >= 200 && status <= 599 && !NEVER_STORED.has(status);
}

/** Statuses of RFC 9110 §15 that this cache may store, and whose caching rules it follows. */
const UNDERSTOOD = new Set([
  200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 307, 308, 400, 402, 403, 404, 405, 409, 410, 411, 413, 414, 415,
  422, 500, 501, 502, 503, 504, 505,
]);

/** Whether the caching rules of this status are known here, which `must-understand` requires. RFC 9111 §5.2.2.3. */
export function isUnderstoodStatus(status: number): boolean {
  return UNDERSTOOD.has(status);
}

/** Whether the status is an error, which one odd request may have caused. RFC 9110 §15.5, §15.6. */
export function isErrorStatus(status: number): boolean {
  return status >= 400;
}
