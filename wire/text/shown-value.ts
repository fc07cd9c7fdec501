/** A value as JSON, for messages that go into logs: without the user and the password of an address. */
export function shownValue(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).replace(/(:\/*).*@/, "$1…@");
}
