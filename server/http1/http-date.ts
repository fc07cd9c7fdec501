let second = 0;
let text = "";

/** The time in the form of a `Date` field, made once a second. RFC 9110 §5.6.7. */
export function httpDate(now = Date.now()): string {
  const current = Math.floor(now / 1000);
  if (current !== second) {
    second = current;
    text = new Date(current * 1000).toUTCString();
  }
  return text;
}
