/** Methods that are registered as safe: RFC 9110 §9.2.1, WebDAV (RFC 4918, 3253, 5323), and QUERY. */
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PROPFIND", "REPORT", "SEARCH"]);

/** Whether a method only reads. An unknown method may change anything. Methods are case-sensitive (RFC 9110 §9.1). */
export function isSafeMethod(method: string): boolean {
  return SAFE_METHODS.has(method);
}
