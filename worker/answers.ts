import { cacheStatusMember, type Outcome, type XCache } from "./rules/cache-status.ts";
import { NOT_MODIFIED_FIELDS } from "./rules/not-modified.ts";
import type { StoredHead, StoredResponse } from "./rules/stored-response.ts";

/** Statuses that come without a body. RFC 9110 §6.4.1. */
const BODILESS = new Set([204, 205, 304]);

/** The fields of hits, made once per entry and second: on a busy page they are what a hit would mostly spend time on. */
const hitFields = new WeakMap<StoredHead, { readonly ageSeconds: number; readonly fields: Headers }>();

/** An answer from store without asking the origin. RFC 9111 §4, §5.1. */
export function hitAnswer(stored: StoredResponse, method: string, ageSeconds: number, ttlSeconds: number): Response {
  let made = hitFields.get(stored.head);
  if (made?.ageSeconds !== ageSeconds) {
    made = { ageSeconds, fields: storedFields(stored.head, ageSeconds, "HIT", { kind: "hit", ttlSeconds }) };
    hitFields.set(stored.head, made);
  }
  return withStoredBody(stored, method, made.fields);
}

/** A hit for a client that holds these bytes already. RFC 9110 §15.4.5. */
export function notModifiedAnswer(stored: StoredResponse, ageSeconds: number, ttlSeconds: number): Response {
  const kept = stored.head.fields.filter(([name]) => NOT_MODIFIED_FIELDS.has(name));
  const fields = storedFields({ ...stored.head, fields: kept }, ageSeconds, "HIT", { kind: "hit", ttlSeconds });
  return new Response(null, { status: 304, headers: fields });
}

/** The same bytes for a follower of a collapsed fetch. */
export function collapsedAnswer(
  stored: StoredResponse,
  ageSeconds: number,
  xCache: XCache,
  outcome: Outcome,
): Response {
  return withStoredBody(stored, "GET", storedFields(stored.head, ageSeconds, xCache, outcome));
}

/** Marks the fields of an answer that came from the origin, in place. */
export function markForwarded(fields: Headers, xCache: XCache, outcome: Outcome): void {
  fields.set("x-cache", xCache);
  fields.append("cache-status", cacheStatusMember(outcome));
}

/** An answer that the edge makes itself: words for a person, no `X-Cache`, never stored by anyone. */
export function edgeAnswer(status: number, detail: string, words: string): Response {
  return new Response(`${words}\n`, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "cache-status": cacheStatusMember({ kind: "answered-by-edge", detail }),
    },
  });
}

/** Whether a status may come with a body. */
export function mayHaveBody(status: number): boolean {
  return !BODILESS.has(status);
}

function storedFields(head: StoredHead, ageSeconds: number, xCache: XCache, outcome: Outcome): Headers {
  const fields = new Headers(head.fields.map(([name, value]) => [name, value] as [string, string]));
  fields.set("age", String(ageSeconds));
  markForwarded(fields, xCache, outcome);
  return fields;
}

function withStoredBody(stored: StoredResponse, method: string, fields: Headers): Response {
  const { status, bodyBytes } = stored.head;
  if (!mayHaveBody(status)) return new Response(null, { status, headers: fields });
  if (method !== "HEAD") return new Response(stored.body, { status, headers: fields });
  const headFields = new Headers(fields);
  headFields.set("content-length", String(bodyBytes));
  return new Response(null, { status, headers: headFields });
}
