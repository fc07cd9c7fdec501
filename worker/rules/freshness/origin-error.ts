/** Statuses that count as failures of the origin. RFC 5861 §4. */
const ORIGIN_FAILED = new Set([500, 502, 503, 504]);

export function isOriginError(status: number): boolean {
  return ORIGIN_FAILED.has(status);
}
