import { browserCacheControl } from "../../rules/directives/browser-cache-control.ts";
import { cacheStatusMember, type Outcome, type XCache } from "../../rules/forwarding/cache-status.ts";
import { OWN_ANSWER_FIELDS } from "../../rules/forwarding/own-answer-fields.ts";
import type { StoredHead } from "../../rules/storing/stored-response.ts";
import { NOT_MODIFIED_FIELDS } from "../../rules/validation/not-modified.ts";

/** Statuses that come without a body. RFC 9110 §6.4.1. */
const BODILESS = new Set([204, 205, 304]);

/** How an answer from store is told. */
export interface AnswerMetadata {
  readonly xCache: XCache;
  readonly outcome: Outcome;
  readonly ageSeconds: number;
  /** What browsers are told to keep it for; `null` to tell them what the origin said. */
  readonly browserTtlSeconds: number | null;
}

/** The fields of hits, made once per entry and second: on a busy page they are what a hit would mostly spend time on. */
const hitFields = new WeakMap<StoredHead, { readonly ageSeconds: number; readonly fields: Headers }>();

/** The fields of an answer with a stored response. RFC 9111 §4, §5.1. */
export function storedFields(head: StoredHead, told: AnswerMetadata): Headers {
  const made = hitFields.get(head);
  const isPlainHit = told.xCache === "HIT" && told.outcome.kind === "hit";
  if (isPlainHit && made?.ageSeconds === told.ageSeconds) return made.fields;
  const fields = new Headers(head.fields.map(([name, value]) => [name, value] as [string, string]));
  fields.set("age", String(told.ageSeconds));
  tellBrowsers(fields, told.browserTtlSeconds, told.ageSeconds);
  markForwarded(fields, told.xCache, told.outcome);
  if (isPlainHit) hitFields.set(head, { ageSeconds: told.ageSeconds, fields });
  return fields;
}

/** Those of the fields that a 304 has; the date of change is told where there is no tag to tell. RFC 9110 §15.4.5. */
export function notModifiedFields(fields: Headers): Headers {
  const kept = new Headers([...fields].filter(([name]) => NOT_MODIFIED_FIELDS.has(name)));
  const lastModified = fields.get("last-modified");
  if (lastModified !== null && !kept.has("etag")) kept.set("last-modified", lastModified);
  return kept;
}

/** Tells browsers what the owner gives them, in place; `null` leaves it at what the origin said. */
export function tellBrowsers(fields: Headers, ttlSeconds: number | null, ageSeconds: number): void {
  const told = ttlSeconds === null ? null : browserCacheControl(fields.get("cache-control"), ttlSeconds, ageSeconds);
  if (told === null) return;
  fields.set("cache-control", told);
  fields.delete("expires");
}

/** Marks the fields of an answer, in place. */
export function markForwarded(fields: Headers, xCache: XCache, outcome: Outcome): void {
  fields.append("via", "1.1 tidemark");
  fields.set("x-cache", xCache);
  fields.append("cache-status", cacheStatusMember(outcome));
}

/** An answer with the body's bytes as they are: the runtime must not encode what is encoded already. */
export function answerWith(
  body: ReadableStream | Uint8Array<ArrayBuffer> | null,
  status: number,
  fields: Headers,
  statusText = "",
): Response {
  const init = { status, statusText, headers: fields, encodeBody: "manual" } as const;
  return new Response(mayHaveBody(status) ? body : null, init);
}

/** An answer that the edge makes itself: words for a person, no `X-Cache`, never stored by anyone. */
export function edgeAnswer(status: number, detail: string, words: string): Response {
  return new Response(`${words}\n`, {
    status,
    headers: {
      ...OWN_ANSWER_FIELDS,
      "content-type": "text/plain; charset=utf-8",
      "cache-status": cacheStatusMember({ kind: "answered-by-edge", detail }),
    },
  });
}

/** Whether a status may come with a body. */
export function mayHaveBody(status: number): boolean {
  return !BODILESS.has(status);
}
