/** Statuses of responses without a body. RFC 9110 §6.4.1. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Whether a response of this status may have a body. */
export function mayHaveBody(status: number): boolean {
  return !BODILESS.has(status);
}

/** The length that the origin announced, in bytes; `null` for none. Chunks override a length. RFC 9112 §6.3. */
export function announcedBytes(field: (name: string) => string | null): number | null {
  if (field("transfer-encoding") !== null) return null;
  const text = field("content-length");
  return text !== null && /^[0-9]+$/.test(text) ? Number(text) : null;
}

/** Whether a truncated body could be detected: it has a length or chunks, or there is no body. RFC 9112 §6.3, §8. */
export function isFramed(status: number, field: (name: string) => string | null): boolean {
  if (status === 204) return true;
  return field("content-length") !== null || field("transfer-encoding") !== null;
}
