/** Fields in which an app asks the web server before it to send a file in place of the body, which is empty. */
const SENDFILE_FIELDS = ["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file"];

/** Whether the body is not the page: a web server behind this cache would have sent a file, and none has. */
export function asksForFile(field: (name: string) => string | null): boolean {
  return SENDFILE_FIELDS.some((name) => field(name) !== null);
}

/**
 * Whether nginx's own field for its cache, `X-Accel-Expires`, forbids storing: a lifetime of nothing, or an end that has
 * passed (`@` and the seconds since 1970). Other values give nginx a lifetime, and mean nothing here.
 */
export function accelForbidsStoring(value: string | null, receivedAt: number): boolean {
  if (value === null) return false;
  const [, end, none] = /^(?:@(\d+)|(0+(?:ms|[smhdwy])?))$/i.exec(value.trim()) ?? [];
  return none !== undefined || (end !== undefined && Number(end) * 1000 <= receivedAt);
}
