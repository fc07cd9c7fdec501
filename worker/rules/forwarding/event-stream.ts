/** Whether this is the `Content-Type` of a stream of events, which may never end. WHATWG HTML §9.2.5. */
export function isEventStream(contentType: string | null): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(contentType ?? "");
}
