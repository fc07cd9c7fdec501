import { cacheGroups } from "../../rules/invalidation/cache-groups.ts";
import { EVERYTHING_PURGE_KEY, groupPurgeKey, tagPurgeKey } from "../../rules/key/cache-key.ts";
import type { StorageRequest } from "../../rules/request/request-facts.ts";
import { isPlainRequest, unkeyedField } from "../../rules/request/unkeyed-field.ts";
import { mayStore, type NotStorableBecause } from "../../rules/storing/may-store.ts";
import { redirectsTo } from "../../rules/storing/redirects-to.ts";
import { isErrorStatus } from "../../rules/storing/storable-status.ts";
import type { Stamp, StoredHead } from "../../rules/storing/stored-response.ts";
import { collectTags, TAG_FIELDS } from "../../rules/storing/tags.ts";
import { isTooLong, selectingFields, variantKey, variantOf } from "../../rules/variants/vary.ts";
import { clientFields } from "../origin/ask-origin.ts";
import type { RequestContext } from "../request-context.ts";
import { selectingField } from "../selection.ts";

/** Fields that are made for each answer. */
const TOLD_ANEW = new Set(["age", "content-length"]);

/** An answer of the origin, as it came or as a 304 freshened it. */
export interface OriginResponse {
  readonly status: number;
  /** All its fields. */
  readonly fields: Headers;
  /** What the view held and when, before it was asked for (R1, R2). */
  readonly stamp: Stamp | null;
  readonly fetchedAt: number;
}

/** A head to be kept, but for its body. */
export type HeadToStore = Omit<StoredHead, "bodyBytes" | "bodyKey">;

export type StorageDecision =
  /** `fields` are those for the client of this answer; the head has its own copy of them. */
  | { readonly kind: "store"; readonly head: HeadToStore; readonly fields: Headers }
  | { readonly kind: "pass"; readonly because: NotStoredBecause };

export type NotStoredBecause =
  | NotStorableBecause
  | "too-many-tags"
  | "tag-invalid"
  | "too-large"
  | "vary-too-long"
  | "unkeyed-field"
  | "redirects-to-itself";

/** Whether this answer may be kept, and as what. RFC 9111 §3 in `mayStore`; tags and variants have limits of our own. */
export function decideStorage(
  context: RequestContext,
  storageRequest: StorageRequest,
  response: OriginResponse,
): StorageDecision {
  const { facts, target, site, ports, request } = context;
  const { identifying } = storageRequest;
  const { keyFields, stripsSetCookie } = target.route;
  const field = (name: string) => (stripsSetCookie && name === "set-cookie" ? null : response.fields.get(name));
  const receivedAt = ports.clock.now();
  const verdict = mayStore(
    {
      method: "GET",
      authorized: facts.authorized,
      identifying,
      partialOrConditional: false,
      forbidsStoring: facts.directives.forbidsStoring,
      plain: !isErrorStatus(response.status) || isPlainRequest(request.headers, { inKey: keyFields, identifying }),
    },
    { status: response.status, requestedAt: response.fetchedAt, receivedAt, field },
    {
      ttlSeconds: target.route.ttlSeconds,
      defaultTtlSeconds: target.route.defaultTtlSeconds(response.status),
      heuristic: site.heuristic,
      targetedFields: site.targetedFields,
    },
  );
  if (verdict.kind === "pass") return verdict;
  const names = selectingFields({
    vary: field("vary"),
    contentEncoding: field("content-encoding"),
    allowedOrigin: field("access-control-allow-origin"),
    askedAcross: request.headers.get("origin") !== null,
    keyFields,
  });
  // A visitor's own cookies are no choice among variants: each would have an entry.
  if (names === "*" || (names.includes("cookie") && storageRequest.cookie !== null))
    return { kind: "pass", because: "vary" };
  const variant = variantOf(names, selectingField(context));
  if (isTooLong(variant)) return { kind: "pass", because: "vary-too-long" };
  const tagTexts = TAG_FIELDS.flatMap((name) => field(name) ?? []);
  const tags = collectTags(target.routeTags, tagTexts, site.limits.tags);
  if (tags.kind === "unkeepable") return { kind: "pass", because: tags.because };
  if (unkeyedField(request.headers, names) !== null) return { kind: "pass", because: "unkeyed-field" };
  const groups = cacheGroups(field("cache-groups")).map((group) => groupPurgeKey(target, group));
  const fields = clientFields(context, response.fields);
  const next = redirectsTo(response.status, fields.get("location"), target.key);
  if (next !== null && sameTarget(context, next)) return { kind: "pass", because: "redirects-to-itself" };
  const withheld = new Set(verdict.withheldFields);
  return {
    kind: "store",
    fields,
    head: {
      key: variantKey(target.key, variant),
      variant,
      status: response.status,
      fields: [...fields].filter(([name]) => !TOLD_ANEW.has(name) && !withheld.has(name)),
      hiddenFields: site.hiddenFields.flatMap((name) => {
        const value = field(name);
        return value === null ? [] : [[name, value] as const];
      }),
      fetchedAt: response.fetchedAt,
      receivedAt,
      initialAgeMs: verdict.initialAgeMs,
      freshnessSeconds: verdict.freshness.seconds,
      reuse: verdict.reuse,
      sharedWithAuthorized: verdict.sharedWithAuthorized,
      purgeKeys: [EVERYTHING_PURGE_KEY, ...target.purgeKeys, ...tags.tags.map(tagPurgeKey), ...groups],
      stamp: response.stamp,
    },
  };
}

/** Whether this URL is the one that is being answered: kept, it would send everybody round in circles. */
function sameTarget({ resolve, target }: RequestContext, url: string): boolean {
  const resolved = resolve(url);
  return resolved.kind === "target" && resolved.key === target.key;
}
