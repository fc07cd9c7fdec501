/** Fields in which an app asks the web server before it to send a file in place of the body, which is empty. */
const SENDFILE_FIELDS = ["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file"];

/** Whether the body is not the page: a web server behind this cache would have sent a file, and none has. */
export function asksForFile(field: (name: string) => string | null): boolean {
  return SENDFILE_FIELDS.some((name) => field(name) !== null);
}

/** The seconds in a unit of nginx's times. */
const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * The most seconds for which nginx would keep a response by its own field, `X-Accel-Expires`: a time like `60` or `5m`, or
 * `@` and the seconds since 1970 at which it ends. Nothing or less forbids storing. `null` if the field says neither.
 */
export function accelSeconds(value: string | null, receivedAt: number): number | null {
  if (value === null) return null;
  const [, end, time, unit = "s"] = /^(?:@(\d+)|(\d+)(ms|[smhdw])?)$/.exec(value.trim()) ?? [];
  if (end !== undefined) return Number(end) - receivedAt / 1000;
  return time === undefined ? null : Number(time) * UNITS[unit]!;
}
