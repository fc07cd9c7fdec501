import { type Identity, mayJoinFetchesOf } from "../identity/identity.ts";
import type { VariantFields } from "../variants/vary.ts";
import { variantKey } from "./cache-key.ts";

/** What a fetch is for. Requests with equal keys may wait for one fetch. */
export interface FetchKey {
  /** The primary cache key. */
  readonly page: string;
  /** The variant that will be stored, as far as the selecting fields are known. */
  readonly variant: VariantFields;
  /** The visitors for whom the answer may be made. */
  readonly audience: Identity;
  /** The odd field of their requests, for which the answer may be made. */
  readonly field?: string;
}

/** The key as a text. No two keys share one: neither a URL nor a variant ends in a space and a word. */
export function fetchKeyText({ page, variant, audience, field }: FetchKey): string {
  const key = variantKey(page, variant);
  if (field !== undefined) return `${key} ${audience} ${field}`;
  return audience === "anonymous" ? key : `${key} ${audience}`;
}

/** The key, and before it that of requests without its odd field: what holds for those holds for all. */
export function withoutField(key: FetchKey): readonly FetchKey[] {
  const { field, ...ofAll } = key;
  return field === undefined ? [key] : [ofAll, key];
}

/** The fetches that a request of this key may join: those whose answers the store would also give to it. */
export function joinableKeys(key: FetchKey): readonly FetchKey[] {
  return mayJoinFetchesOf(key.audience).flatMap((audience) => withoutField({ ...key, audience }));
}
