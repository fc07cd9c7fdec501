import type { Fields } from "../../rules/fields/fields.ts";
import { publicLocation, redirectTarget } from "../../rules/forwarding/client-response-fields.ts";
import { cacheGroups } from "../../rules/invalidation/cache-groups.ts";
import { variantKey } from "../../rules/key/cache-key.ts";
import { groupPurgeKey, tagPurgeKey } from "../../rules/key/purge-key.ts";
import { mayStore } from "../../rules/storing/may-store.ts";
import type { NotStored } from "../../rules/storing/not-stored.ts";
import type { StoredFields, StoredHead, StoredResponse } from "../../rules/storing/stored-response.ts";
import { clientFields, publicAddress } from "../answering/pass-on.ts";
import type { FetchedResponse } from "../origin/ask-origin.ts";
import type { RequestContext } from "../request-context.ts";
import { hasTooManyParts, siblingsVaryBy } from "../selection.ts";

/** A head to be stored, whose body may still be on its way: its length is the announced one, and 0 if there is none. */
export type HeadToStore = Pick<StoredHead, keyof StoredHead>;

export type StorageDecision =
  /**
   * `fields` are those for the client of this answer; the head has its own copy of them. `isLarge` says that the body
   * is stored apart.
   */
  | { readonly kind: "store"; readonly head: HeadToStore; readonly fields: Fields; readonly isLarge: boolean }
  | ({ readonly kind: "not-stored" } & NotStored);

/**
 * Collects the inputs of `mayStore`, and makes the head to be stored. `earlierTags` are the tags of the stored response
 * that this one freshens.
 */
export function decideStorage(
  context: RequestContext,
  response: FetchedResponse,
  earlierTags: readonly string[] = [],
): StorageDecision {
  const { facts, resolved, isolate, ports } = context;
  const { site } = isolate;
  const { route } = resolved;
  const { status, fetchedAt, lengthBytes, parentAge } = response;
  const field = (name: string) => (route.stripsSetCookie && name === "set-cookie" ? null : response.fields.get(name));
  const receivedAt = ports.clock.now();
  const redirectsToItself = isRedirectToItself(context, status, field("location"));
  const verdict = mayStore(
    facts,
    {
      status,
      requestedAt: fetchedAt,
      receivedAt,
      field,
      fields: response.fields,
      lengthBytes,
      redirectsToItself,
      earlierTags,
    },
    {
      ...route,
      defaultTtlSeconds: route.defaultTtlSeconds(status),
      heuristic: site.heuristic,
      targetedFields: site.targetedFields,
      siblingsVaryBy: siblingsVaryBy(context, receivedAt, status),
      routeTags: resolved.routeTags,
      maxTags: site.limits.tags,
      maxBodyBytes: site.limits.storeBytes,
      maxLargeBodyBytes: site.limits.largeBytes,
    },
  );
  if (verdict.kind === "not-stored") return verdict;
  if (response.isByOtherRules) return { kind: "not-stored", because: "other-rules" };
  const { variant, tags } = verdict;
  if (hasTooManyParts(context, variant, receivedAt)) return { kind: "not-stored", because: "too-many-parts" };
  const groups = cacheGroups(field("cache-groups")).map((group) => groupPurgeKey(resolved, group));
  const fields = clientFields(context, response.fields, receivedAt);
  const withheld = verdict.withheldFields;
  return {
    kind: "store",
    fields,
    isLarge: verdict.isLarge,
    head: {
      key: variantKey(resolved.cacheKey, variant),
      variant: toKeep(variant),
      status,
      fields: toKeep(linesWithout(withheld, fields)),
      hiddenFields: toKeep(response.fields.lines((name) => site.hiddenFields.includes(name))),
      fetchedAt: fetchedAt - (parentAge?.fetchedBeforeMs ?? 0),
      receivedAt,
      initialAgeMs: parentAge
        ? Math.max(verdict.initialAgeMs, parentAge.ageMs + receivedAt - fetchedAt)
        : verdict.initialAgeMs,
      bodyBytes: lengthBytes ?? 0,
      bodyKey: null,
      freshnessSeconds: verdict.freshness.seconds,
      reuse: verdict.reuse,
      sharedWithAuthorized: verdict.sharedWithAuthorized,
      sharedWithSessions: verdict.sharedWithSessions,
      givenPurgeKeys: toKeep([...tags.map(tagPurgeKey), ...groups]),
      stamp: response.stamp,
    },
  };
}

/** The fields that all answers with a response have, without those that are `withheld` or made for each answer. */
export function linesWithout(withheld: readonly string[], fields: Fields): StoredFields {
  return fields.lines((name) => name !== "age" && name !== "content-length" && !withheld.includes(name));
}

/** The head with its body, whose length is what has come. */
export function withBody(head: HeadToStore, body: Uint8Array<ArrayBuffer>): StoredResponse {
  const bodyBytes = body.byteLength;
  return { head: head.bodyBytes === bodyBytes ? head : { ...head, bodyBytes }, body };
}

const NOTHING: readonly never[] = [];

/** Makes a list that is kept as long as its page: all empty lists are one object, and the list has no spare room. */
function toKeep<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NOTHING : list.slice();
}

/**
 * Whether a client that follows this redirect requests the same entry again. If it were stored, every client would
 * loop.
 */
function isRedirectToItself(context: RequestContext, status: number, location: string | null): boolean {
  const { incoming, isolate, resolved } = context;
  if (location === null) return false;
  const next = redirectTarget(status, publicLocation(location, publicAddress(context)), resolved.cacheKey);
  if (next === null) return false;
  const target = isolate.resolve(next, incoming.child);
  return target.kind === "resolved" && target.cacheKey === resolved.cacheKey;
}
