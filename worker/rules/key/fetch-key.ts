import type { Identity } from "../identity/identity.ts";
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
}

/** The key as a text. No two keys share one: neither a URL nor a variant ends in a space and a word. */
export function fetchKeyText({ page, variant, audience }: FetchKey): string {
  const key = variantKey(page, variant);
  return audience === "anonymous" ? key : `${key} ${audience}`;
}
