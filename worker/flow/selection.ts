import {
  isMarker,
  type Stored,
  type StoredResponse,
  storedField,
  type Variant,
  type VariantMarker,
} from "../rules/storing/stored-response.ts";
import { acceptsCoding } from "../rules/variants/accept-encoding.ts";
import { matchesVariant, type SelectingFields } from "../rules/variants/vary.ts";
import type { RequestContext } from "./request-context.ts";

/** The response that the request selects in memory. No I/O. */
export function selectInMemory(context: RequestContext): StoredResponse | undefined {
  const { store } = context.ports;
  const stored = store.recall(context.resolved.cacheKey);
  if (!stored || !isMarker(stored)) return stored;
  const { originView } = context.facts;
  const found = latestMatch(stored, originView);
  const variant = found && store.recall(found.key);
  if (!variant || !isSelected(variant, originView)) return undefined;
  // Variants are evicted from the back, so the front half need not be kept in order.
  const at = stored.variants.indexOf(found);
  if (at >= context.site.limits.variants / 2) store.remember(withFirst(stored, at));
  return variant;
}

/** The response that the request selects in the PoP's shared tier. A marker that is found there is kept in memory. */
export async function selectInSharedTier(context: RequestContext): Promise<StoredResponse | undefined> {
  const { store } = context.ports;
  const { cacheKey } = context.resolved;
  const stored = await store.lookUp(cacheKey);
  if (!stored || !isMarker(stored)) return stored;
  const marker = mergeFound(stored, markerInMemory(context), context.site.limits.variants);
  store.remember(marker);
  const { originView } = context.facts;
  const found = latestMatch(marker, originView);
  const variant = found && (await store.lookUp(found.key));
  return variant && isSelected(variant, originView) ? variant : undefined;
}

/**
 * The other variants in memory, which the origin may confirm. RFC 9111 §4.3.1. Purged variants are left out, and so are
 * those that the client cannot decode: a weak tag may be shared by all codings of the page.
 */
export function otherVariants(context: RequestContext, selected: StoredResponse | null): StoredResponse[] {
  const { store, purges } = context.ports;
  const { acceptedCodings } = context.facts.originView;
  return (markerInMemory(context)?.variants ?? []).flatMap(({ key, encoding }) => {
    if (key === selected?.head.key || !acceptsCoding(acceptedCodings, encoding)) return [];
    const stored = store.recall(key);
    return stored && !isMarker(stored) && purges.check(stored.head, false) !== "purged" ? [stored] : [];
  });
}

/** Stores a response and, if it is one of several variants, the marker that leads to it. */
export async function storeResponse(context: RequestContext, stored: StoredResponse): Promise<void> {
  const { ports, resolved, site } = context;
  if (stored.head.variant.length === 0) return ports.store.keep(stored);
  const { key, stamp, fetchedAt } = stored.head;
  const added: VariantMarker = {
    head: { key: resolved.cacheKey, stamp, fetchedAt },
    variants: [{ key, fields: stored.head.variant, encoding: storedField(stored.head, "content-encoding"), fetchedAt }],
  };
  const merged = mergeMarkers(added, markerInMemory(context));
  const marker = { ...merged, variants: merged.variants.slice(0, site.limits.variants) };
  const dropped = merged.variants.slice(site.limits.variants).map((variant) => ports.store.forget(variant.key));
  await Promise.all([ports.store.keep(stored), ports.store.keep(marker), ...dropped]);
}

/** The latest matching variant. Several can match after the origin has changed its `Vary`. RFC 9111 §4.1. */
function latestMatch({ variants }: VariantMarker, request: SelectingFields): Variant | undefined {
  let latest: Variant | undefined;
  for (const variant of variants) {
    if (latest && latest.fetchedAt >= variant.fetchedAt) continue;
    if (matchesVariant(variant.fields, variant.encoding, request)) latest = variant;
  }
  return latest;
}

/** The marker of this URL in memory, which holds the fields that its responses vary by. */
export function markerInMemory({ ports, resolved }: RequestContext): VariantMarker | undefined {
  const stored = ports.store.recall(resolved.cacheKey);
  return stored && isMarker(stored) ? stored : undefined;
}

/**
 * The marker of the shared tier: first the variants that other isolates of the PoP have stored, then those of this
 * isolate.
 */
function mergeFound(found: VariantMarker, held: VariantMarker | undefined, maxVariants: number): VariantMarker {
  const heldSince = new Map(held?.variants.map(({ key, fetchedAt }) => [key, fetchedAt]));
  const news = found.variants.filter(({ key, fetchedAt }) => fetchedAt > (heldSince.get(key) ?? -1));
  const { head, variants } = mergeMarkers({ ...found, variants: news }, held);
  return { head, variants: variants.slice(0, maxVariants) };
}

/** The variants of both markers, the first marker's first, under the later stamp. */
function mergeMarkers(first: VariantMarker, second: VariantMarker | undefined): VariantMarker {
  if (!second) return first;
  const known = new Set(first.variants.map(({ key }) => key));
  const head = second.head.fetchedAt > first.head.fetchedAt ? second.head : first.head;
  return { head, variants: [...first.variants, ...second.variants.filter(({ key }) => !known.has(key))] };
}

function withFirst({ head, variants }: VariantMarker, at: number): VariantMarker {
  return { head, variants: [variants[at]!, ...variants.filter((_, index) => index !== at)] };
}

/** Whether a request selects a response that was fetched for another request. */
export function selects(context: RequestContext, { head }: StoredResponse): boolean {
  return matchesVariant(head.variant, storedField(head, "content-encoding"), context.facts.originView);
}

/**
 * A response that is found under a variant's key is itself compared with the request, because the marker may be older
 * (R19).
 */
function isSelected(stored: Stored, request: SelectingFields): stored is StoredResponse {
  return (
    !isMarker(stored) && matchesVariant(stored.head.variant, storedField(stored.head, "content-encoding"), request)
  );
}
