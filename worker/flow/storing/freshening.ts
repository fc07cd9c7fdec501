import { initialAgeMs } from "../../rules/freshness/current-age.ts";
import { isTagPurgeKey } from "../../rules/key/cache-key.ts";
import type { StorageRequest } from "../../rules/request/request-facts.ts";
import { unkeyedField } from "../../rules/request/unkeyed-field.ts";
import { changedHead, type StoredHead, type StoredResponse, storedField } from "../../rules/storing/stored-response.ts";
import { freshenedFields } from "../../rules/validation/freshened-fields.ts";
import { selectedBy304 } from "../../rules/validation/selected-by-304.ts";
import { clientFields } from "../origin/ask-origin.ts";
import type { RequestContext } from "../request-context.ts";
import { decideStorage, type OriginResponse } from "./storage-decision.ts";

/** A stored response with what a 304 says of it. */
export interface Freshened {
  readonly stored: StoredResponse;
  /** Why it may not be kept so; `null` if it may. */
  readonly passBecause: string | null;
}

/** The validators of a stored response. */
export function validatorsOf({ head }: StoredResponse): { etag: string | null; lastModified: string | null } {
  return { etag: storedField(head, "etag"), lastModified: storedField(head, "last-modified") };
}

/**
 * What a 304 confirms of the responses in hand, whose validators were sent (R3); `null` if it names none of them.
 * RFC 9111 §4.3.4. The stamp and the times are those of the validation (R2).
 */
export function freshen(
  context: RequestContext,
  storageRequest: StorageRequest,
  held: readonly StoredResponse[],
  notModified: OriginResponse,
): Freshened | null {
  const got = { etag: notModified.fields.get("etag"), lastModified: notModified.fields.get("last-modified") };
  const at = selectedBy304(held.map(validatorsOf), got);
  const confirmed = at === null ? undefined : held[at];
  if (!confirmed) return null;
  const { head, body } = confirmed;
  const receivedAt = context.ports.clock.now();
  const fields = freshenedHeaders(head, notModified.fields, receivedAt);
  const verdict = decideStorage(context, storageRequest, { ...notModified, status: head.status, fields });
  const { bodyBytes, bodyKey } = head;
  if (verdict.kind === "pass") {
    // It goes to the one who asked, and to nobody else.
    const age = initialAgeMs(fields.get("age"), fields.get("date"), notModified.fetchedAt, receivedAt);
    const shown = [...clientFields(context, fields)].filter(([name]) => name !== "content-length");
    const changed = changedHead(head, { fields: shown, receivedAt, initialAgeMs: age });
    return { stored: { head: changed, body }, passBecause: verdict.because };
  }
  const purgeKeys = [...new Set([...verdict.head.purgeKeys, ...head.purgeKeys])]; // R17: the union of both
  const fits = purgeKeys.filter(isTagPurgeKey).length <= context.site.limits.tags;
  const stored = { head: { ...verdict.head, purgeKeys, bodyBytes, bodyKey }, body };
  return { stored, passBecause: fits ? null : "too-many-tags" };
}

/**
 * Whether the origin has taken back what is stored: these very bytes are for one visitor now, or for no store. They are
 * not shown to others again, not even stale.
 */
export function isWithdrawn(
  context: RequestContext,
  storageRequest: StorageRequest,
  { stored, passBecause }: Freshened,
): boolean {
  return (
    (passBecause === "private" || passBecause === "no-store") && appliesToEverybody(context, storageRequest, stored)
  );
}

/**
 * Whether what the origin answers is said of the stored page. To a visitor with cookies it speaks of his page alone, and
 * a field that nobody else sends may have made the answer what it is.
 */
export function appliesToEverybody(
  { request }: RequestContext,
  { identifying }: StorageRequest,
  { head }: StoredResponse,
): boolean {
  const keyed = head.variant.map(([name]) => name);
  return !identifying && unkeyedField(request.headers, keyed) === null;
}

/** The fields of the origin's answer that the stored one would be now, with its length told anew. */
function freshenedHeaders(
  { fields, hiddenFields, bodyBytes }: StoredHead,
  from304: Headers,
  receivedAt: number,
): Headers {
  const merged = freshenedFields([...fields, ...hiddenFields], [...from304]);
  const headers = new Headers(merged.map(([name, value]) => [name, value] as [string, string]));
  // RFC 9110 §6.6.1: an answer without a date is of the moment that it arrived, not of the stored one's.
  if (!from304.has("date")) headers.set("date", new Date(receivedAt).toUTCString());
  headers.set("content-length", String(bodyBytes));
  return headers;
}
