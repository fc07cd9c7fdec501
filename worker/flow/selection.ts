import { cancelBody } from "../ports/cancel-body.ts";
import type { Found, FoundResponse } from "../ports/store.ts";
import { freshUntil } from "../rules/freshness/current-age.ts";
import { isWorthStoring } from "../rules/freshness/judge.ts";
import { isOriginError } from "../rules/freshness/origin-error.ts";
import { partsKey } from "../rules/key/cache-key.ts";
import {
  isMarker,
  isNewer,
  type PurgeableHead,
  type StoredHead,
  type StoredResponse,
  storedField,
  type Variant,
  type VariantMarker,
} from "../rules/storing/stored-response.ts";
import { tellsPartsApart, unnamedPartFields } from "../rules/variants/part-fields.ts";
import { matchesVariant, selectingFields, type VariantFields } from "../rules/variants/vary.ts";
import type { RequestContext } from "./request-context.ts";

/** The key of what leads to the response: the page itself, or the marker of its variants. Parts have a marker of their own. */
function entryKeyOf({ resolved, facts }: RequestContext): string {
  return facts.parts.length === 0 ? resolved.cacheKey : partsKey(resolved.cacheKey);
}

/** The response that the request selects in memory. No I/O. */
export function selectInMemory(context: RequestContext): StoredResponse | undefined {
  const { store } = context.ports;
  const stored = store.recall(entryKeyOf(context));
  if (!stored || !isMarker(stored)) return stored;
  const found = latestMatch(stored, context);
  const variant = found && store.recall(found.key);
  if (!variant || isMarker(variant) || !selects(context, variant)) return undefined;
  // Variants are evicted from the back, so the front half need not be kept in order.
  const at = stored.variants.indexOf(found);
  if (at >= context.isolate.site.limits.variants / 2) store.remember(withFirst(stored, at));
  return variant;
}

/**
 * The response that the request selects in the PoP's shared tier; `undefined` at once if it is known to hold none. A
 * marker that is found there is kept in memory.
 */
export function selectInSharedTier(context: RequestContext): Promise<FoundResponse | undefined> | undefined {
  const finding = context.ports.store.lookUp(entryKeyOf(context));
  return finding && selectAmong(context, finding);
}

async function selectAmong(
  context: RequestContext,
  finding: Promise<Found | undefined>,
): Promise<FoundResponse | undefined> {
  const { store } = context.ports;
  const stored = await finding;
  if (!stored || !isMarker(stored)) return stored && ifSelected(context, stored);
  const marker = rememberMarker(context, stored);
  const found = latestMatch(marker, context);
  const variant = found && (await store.lookUp(found.key));
  return variant && !isMarker(variant) ? ifSelected(context, variant) : undefined;
}

/** Learns the variants that other isolates of the PoP have stored, because a response that is stored next joins them. */
export async function learnVariants(context: RequestContext): Promise<void> {
  const stored = await context.ports.store.lookUp(entryKeyOf(context));
  if (stored && isMarker(stored)) rememberMarker(context, stored);
  else if (stored) context.background.run(cancelBody(stored.body));
}

function rememberMarker(context: RequestContext, found: VariantMarker): VariantMarker {
  const held = standingMarker(context);
  const marker = held && isPurged(context, found) ? held : upToLimit(context, mergeFound(found, held));
  context.ports.store.remember(marker);
  return marker;
}

/**
 * The response that is found is compared with the request as well, because the marker that led to it may be older
 * (R19).
 */
function ifSelected(context: RequestContext, found: FoundResponse): FoundResponse | undefined {
  if (obeysVary(context, found.head) && selects(context, found)) {
    context.ports.reporter.report({ kind: "found", head: found.head });
    return found;
  }
  context.background.run(cancelBody(found.body));
  return undefined;
}

/**
 * Whether a response was stored under all that its Vary names. One in the shared tier may have been stored while the owner
 * dropped a field that he does not drop any more.
 */
function obeysVary({ resolved }: RequestContext, head: StoredHead): boolean {
  const vary = storedField(head, "vary");
  if (vary === null) return true;
  const names = selectingFields({
    field: (name) => (name === "vary" ? vary : null),
    askedAcross: false,
    keyFields: resolved.route.selectingNames,
    parts: [],
    owners: resolved.route,
  });
  const stored = new Set(head.variant.map(([name]) => name));
  return names !== "*" && names.every((name) => stored.has(name));
}

/**
 * Whether a response was stored under all that the route keys by, and all by which the request asks for a part. One in
 * the shared tier may have been stored before the owner added to that, and be what another visitor's value chose.
 */
function isKeyed(context: RequestContext, variant: VariantFields): boolean {
  const { resolved, facts } = context;
  const isKey = (name: string) => variant.some(([each]) => each === name);
  return resolved.route.selectingNames.every(isKey) && facts.parts.every((fields) => tellsPartsApart(fields, isKey));
}

/**
 * Whether other requests for the URL would select a response that has not been purged. RFC 9211 §2.2. Of one that the
 * shared tier alone holds, only purges of its URL are known here.
 */
export function hasVariants(context: RequestContext): boolean {
  if (variantsInMemory(context).length > 0) return true;
  const marker = standingMarker(context);
  // If the request selects one, that one is gone, and the others may be, too.
  if (!marker || latestMatch(marker, context)) return false;
  return marker.variants.some(({ key }) => !context.ports.store.recall(key));
}

/** The variants of this URL in memory that have not been purged. */
function variantsInMemory(context: RequestContext): StoredHead[] {
  const { store, purges } = context.ports;
  return (markerInMemory(context)?.variants ?? []).flatMap(({ key }) => {
    const stored = store.recall(key);
    return stored && !isMarker(stored) && purges.check(stored.head) !== "purged" ? [stored.head] : [];
  });
}

/** The most values of one field by which the parts of a page are chosen: visitors can send any. */
const MAX_PART_VALUES = 8;

/** Whether a part would be stored under one value too many, as far as memory knows. */
export function hasTooManyParts(context: RequestContext, variant: VariantFields, now: number): boolean {
  const { parts } = context.facts;
  if (parts.length === 0) return false;
  const fresh = variantsInMemory(context).filter((head) => freshUntil(head) > now);
  return variant.some(([name, value]) => {
    if (!parts.some((fields) => fields.includes(name))) return false;
    const values = new Set(fresh.map((each) => each.variant.find(([other]) => other === name)?.[1] ?? null));
    return values.size >= MAX_PART_VALUES && !values.has(value);
  });
}

/**
 * The fields by which the fresh variants of this URL vary by themselves, as far as its marker is known. None that a purge
 * has reached is fresh. Beside an error those in memory that are stale count, too, because they may be used yet. `now`:
 * epoch milliseconds.
 */
export function siblingsVaryBy(context: RequestContext, now: number, status: number): string[] {
  const { store, purges } = context.ports;
  const marker = markerInMemory(context);
  if (!marker) return [];
  const ofUrl = purges.check(headOf(context, marker));
  return marker.variants.flatMap(({ key, freshUntil, variesBy }) => {
    const stored = store.recall(key);
    const answer = stored && !isMarker(stored) ? purges.check(stored.head) : ofUrl;
    const isFresh = freshUntil > now && isWorthStoring(answer);
    return isFresh || (isOriginError(status) && stored && answer !== "purged") ? variesBy : [];
  });
}

/** The fields by which a response varies by itself, whatever others of its URL do, besides those that its route keys by. */
function variesBy({ resolved }: RequestContext, head: StoredHead): readonly string[] {
  const { selectingNames } = resolved.route;
  const names = selectingFields({
    field: (name) => storedField(head, name),
    askedAcross: true,
    keyFields: selectingNames,
    parts: [],
    owners: resolved.route,
  });
  return names === "*" ? [] : names.filter((name) => !selectingNames.includes(name));
}

/** Has the requests of this isolate find a response whose body is still being stored, if it is one of several variants. */
export function markEarly(context: RequestContext, head: StoredHead): void {
  if (head.variant.length > 0) context.ports.store.remember(upToLimit(context, markerWith(context, head)));
}

/** Stores a response and, if it is one of several variants, the marker that leads to it. */
export function storeResponse(context: RequestContext, stored: StoredResponse): Promise<boolean> {
  const { store } = context.ports;
  if (stored.head.variant.length === 0) return store.keep(stored);
  const merged = markerWith(context, stored.head);
  const marker = upToLimit(context, merged);
  const dropped = merged.variants.slice(marker.variants.length).map((variant) => store.forget(variant.key));
  const all = Promise.all([store.keep(stored), store.keep(marker), ...dropped]);
  return all.then(([isKept, isSelectable]) => isKept && isSelectable);
}

/** A marker without the variants that are too many: those that were used least recently. */
function upToLimit({ isolate }: RequestContext, { head, variants }: VariantMarker): VariantMarker {
  return { head, variants: variants.slice(0, isolate.site.limits.variants) };
}

/** The marker of this URL with one more variant, of which there may be one too many. */
function markerWith(context: RequestContext, head: StoredHead): VariantMarker {
  const { key, stamp, fetchedAt, variant: fields } = head;
  const encoding = storedField(head, "content-encoding");
  const lasting = { freshUntil: freshUntil(head), variesBy: variesBy(context, head) };
  const added: VariantMarker = {
    head: { key: entryKeyOf(context), stamp, fetchedAt },
    variants: [{ key, fields, encoding, fetchedAt, ...lasting }],
  };
  return mergeMarkers(added, standingMarker(context));
}

/** The latest matching variant. Several can match after the origin has changed its `Vary`. RFC 9111 §4.1. */
function latestMatch({ variants }: VariantMarker, context: RequestContext): Variant | undefined {
  let latest: Variant | undefined;
  for (const variant of variants) {
    if (latest && latest.fetchedAt >= variant.fetchedAt) continue;
    if (matches(context, variant.fields, variant.encoding)) latest = variant;
  }
  return latest;
}

/** The marker of this URL in memory, which holds the fields that its responses vary by. */
export function markerInMemory(context: RequestContext): VariantMarker | undefined {
  const stored = context.ports.store.recall(entryKeyOf(context));
  return stored && isMarker(stored) ? stored : undefined;
}

/** The same, unless a purge of the URL has removed all that it leads to: what joins it later gives it a later stamp. */
function standingMarker(context: RequestContext): VariantMarker | undefined {
  const marker = markerInMemory(context);
  return marker && !isPurged(context, marker) ? marker : undefined;
}

function isPurged(context: RequestContext, marker: VariantMarker): boolean {
  return context.ports.purges.check(headOf(context, marker)) === "purged";
}

/** What purges find of the variants that the shared tier alone holds: their URL. */
function headOf({ resolved }: RequestContext, { head }: VariantMarker): PurgeableHead {
  return { key: resolved.cacheKey, givenPurgeKeys: [], stamp: head.stamp };
}

/** The fields that are known to select among the responses of this URL, sorted. */
export function selectingNames(context: RequestContext): readonly string[] {
  const { route } = context.resolved;
  const { parts } = context.facts;
  const held = markerInMemory(context);
  if (!held && parts.length === 0) return route.selectingNames;
  const ofVariants = held?.variants.flatMap(({ fields }) => fields.map(([name]) => name)) ?? [];
  const known = [...route.selectingNames, ...ofVariants];
  return [...new Set([...known, ...unnamedPartFields(parts, known)])].sort();
}

/**
 * The marker of the shared tier: first the variants that other isolates of the PoP have stored, then those of this
 * isolate.
 */
function mergeFound(found: VariantMarker, held: VariantMarker | undefined): VariantMarker {
  const heldSince = new Map(held?.variants.map(({ key, fetchedAt }) => [key, fetchedAt]));
  const news = found.variants.filter(({ key, fetchedAt }) => fetchedAt > (heldSince.get(key) ?? -1));
  return mergeMarkers({ ...found, variants: news }, held);
}

/** The variants of a marker, then the others of the one that is held in memory, under the head of the newer. */
function mergeMarkers(added: VariantMarker, held: VariantMarker | undefined): VariantMarker {
  if (!held) return added;
  const known = new Set(added.variants.map(({ key }) => key));
  const { head } = isNewer(held, added) ? held : added;
  return { head, variants: [...added.variants, ...held.variants.filter(({ key }) => !known.has(key))] };
}

function withFirst({ head, variants }: VariantMarker, at: number): VariantMarker {
  return { head, variants: [variants[at]!, ...variants.filter((_, index) => index !== at)] };
}

/** Whether a request selects a response that was fetched for another request. */
export function selects(context: RequestContext, { head }: FoundResponse): boolean {
  return matches(context, head.variant, storedField(head, "content-encoding"));
}

function matches(context: RequestContext, variant: VariantFields, encoding: string | null): boolean {
  const { originView } = context.facts;
  if (!isKeyed(context, variant)) return false;
  if (matchesVariant(variant, encoding, originView)) return true;
  const passedOver = context.isolate.codings.passedOverFor(encoding, context.arrival.at);
  return passedOver !== "identity" && matchesVariant(variant, encoding, originView, passedOver);
}
