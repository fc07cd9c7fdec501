import { fieldForSelection } from "../rules/forwarding/origin-request-fields.ts";
import { readForwardedCookies } from "../rules/request/request-facts.ts";
import {
  isMarker,
  type Stored,
  type StoredResponse,
  storedField,
  type Variant,
  type VariantMarker,
} from "../rules/storing/stored-response.ts";
import { acceptedCodings, acceptsCoding } from "../rules/variants/accept-encoding.ts";
import { matchesVariant, variantKey, variantOf } from "../rules/variants/vary.ts";
import type { RequestContext } from "./request-context.ts";

/** A field of the request as the origin is sent it: what selects among variants. RFC 9111 §4.1. */
export function selectingField({ request, site, target }: RequestContext): (name: string) => string | null {
  const field = (name: string) => request.headers.get(name);
  return (name) => {
    if (name === "cookie") return readForwardedCookies(field, site.ignoredCookies).forwarded;
    return fieldForSelection(name, field, target.route.keyFields);
  };
}

/** Under which key requests wait for each other: that of the variant, as far as is known what the answers vary by. */
export function collapseKey(context: RequestContext): string {
  const { key, route } = context.target;
  const marker = markerInMemory(context);
  if (!marker && route.keyFields.length === 0) return key;
  const inMarker = marker?.variants.flatMap(({ fields }) => fields.map(([name]) => name)) ?? [];
  const names = new Set([...route.keyFields, ...inMarker]);
  return variantKey(key, variantOf([...names].sort(), selectingField(context)));
}

/** The response that the request selects in memory. No I/O. */
export function selectInMemory(context: RequestContext): StoredResponse | undefined {
  const { store } = context.ports;
  const stored = store.recall(context.target.key);
  if (!stored || !isMarker(stored)) return stored;
  const field = selectingField(context);
  const found = latestMatch(stored, field);
  const variant = found && store.recall(found.key);
  if (!variant || !isSelected(variant, field)) return undefined;
  // The front half needs no order: what is dropped comes from the back.
  const at = stored.variants.indexOf(found);
  if (at >= context.site.limits.variants / 2) store.remember(withFirst(stored, at));
  return variant;
}

/** The response that the request selects in the PoP's shared tier; a marker that is found there is remembered. */
export async function selectInSharedTier(context: RequestContext): Promise<StoredResponse | undefined> {
  const { store } = context.ports;
  const { key } = context.target;
  const stored = await store.lookUp(key);
  if (!stored || !isMarker(stored)) return stored;
  const marker = learn(stored, markerInMemory(context), context.site.limits.variants);
  store.remember(marker);
  const field = selectingField(context);
  const found = latestMatch(marker, field);
  const variant = found && (await store.lookUp(found.key));
  return variant && isSelected(variant, field) ? variant : undefined;
}

/**
 * The other variants that this isolate has in hand: the origin may say that one of them is it. RFC 9111 §4.3.1. What was
 * purged is not among them, nor what the client cannot read: a weak tag may be that of the page in any coding.
 */
export function otherVariants(context: RequestContext, selected: StoredResponse | null): StoredResponse[] {
  const { store, purges } = context.ports;
  const accepted = acceptedCodings(selectingField(context)("accept-encoding"));
  return (markerInMemory(context)?.variants ?? []).flatMap(({ key, encoding }) => {
    if (key === selected?.head.key || !acceptsCoding(accepted, encoding)) return [];
    const stored = store.recall(key);
    return stored && !isMarker(stored) && purges.check(stored.head, false) !== "purged" ? [stored] : [];
  });
}

/** Keeps a response, and a marker that leads to it if it is one of several. */
export async function storeSelected(context: RequestContext, stored: StoredResponse): Promise<void> {
  const { ports, target, site } = context;
  if (stored.head.variant.length === 0) return ports.store.keep(stored);
  const { key, stamp, fetchedAt } = stored.head;
  const added: VariantMarker = {
    head: { key: target.key, stamp, fetchedAt },
    variants: [{ key, fields: stored.head.variant, encoding: storedField(stored.head, "content-encoding"), fetchedAt }],
  };
  const merged = mergeMarkers(added, markerInMemory(context));
  const marker = { ...merged, variants: merged.variants.slice(0, site.limits.variants) };
  const dropped = merged.variants.slice(site.limits.variants).map((variant) => ports.store.forget(variant.key));
  await Promise.all([ports.store.keep(stored), ports.store.keep(marker), ...dropped]);
}

/** Of several that match, since what the answers vary by has changed, the latest one counts. RFC 9111 §4.1. */
function latestMatch({ variants }: VariantMarker, field: (name: string) => string | null): Variant | undefined {
  let latest: Variant | undefined;
  for (const variant of variants) {
    if (latest && latest.fetchedAt >= variant.fetchedAt) continue;
    if (matchesVariant(variant.fields, variant.encoding, field)) latest = variant;
  }
  return latest;
}

function markerInMemory({ ports, target }: RequestContext): VariantMarker | undefined {
  const stored = ports.store.recall(target.key);
  return stored && isMarker(stored) ? stored : undefined;
}

/** What this isolate knows, after what others of the PoP have stored since: that has been used last. */
function learn(found: VariantMarker, held: VariantMarker | undefined, mostVariants: number): VariantMarker {
  const heldSince = new Map(held?.variants.map(({ key, fetchedAt }) => [key, fetchedAt]));
  const news = found.variants.filter(({ key, fetchedAt }) => fetchedAt > (heldSince.get(key) ?? -1));
  const { head, variants } = mergeMarkers({ ...found, variants: news }, held);
  return { head, variants: variants.slice(0, mostVariants) };
}

/** Both markers' variants, those of the first one first, under the later stamp. */
function mergeMarkers(first: VariantMarker, second: VariantMarker | undefined): VariantMarker {
  if (!second) return first;
  const known = new Set(first.variants.map(({ key }) => key));
  const head = second.head.fetchedAt > first.head.fetchedAt ? second.head : first.head;
  return { head, variants: [...first.variants, ...second.variants.filter(({ key }) => !known.has(key))] };
}

function withFirst({ head, variants }: VariantMarker, at: number): VariantMarker {
  return { head, variants: [variants[at]!, ...variants.filter((_, index) => index !== at)] };
}

/** Whether a request that was not there when a response was fetched selects it, too. */
export function selects(context: RequestContext, { head }: StoredResponse): boolean {
  return matchesVariant(head.variant, storedField(head, "content-encoding"), selectingField(context));
}

/** A response found under a variant's key is checked itself: the marker may be older (R19). */
function isSelected(stored: Stored, field: (name: string) => string | null): stored is StoredResponse {
  return !isMarker(stored) && matchesVariant(stored.head.variant, storedField(stored.head, "content-encoding"), field);
}
