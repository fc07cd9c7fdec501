import { matchesWeakly } from "./entity-tag.ts";
import type { Validators } from "./not-modified.ts";

/** What a stored response is compared by. */
export interface ComparedByHead extends Validators {
  readonly bodyBytes: number;
}

/** What a 200 to HEAD says; `null` where it says nothing. */
export interface HeadAnswer extends Validators {
  readonly contentLength: string | null;
}

/**
 * What a 200 to HEAD means for a stored response that could have answered it. RFC 9111 §4.3.5. All that it says must
 * match, or the stored one is out of date. If it brings no validator, equal lengths prove nothing, and nothing is done.
 */
export function freshenedByHead(stored: ComparedByHead, head: HeadAnswer): "freshen" | "invalidate" | "nothing" {
  const { etag, lastModified, contentLength } = head;
  if (contentLength !== null && /^[0-9]+$/.test(contentLength) && Number(contentLength) !== stored.bodyBytes) {
    return "invalidate";
  }
  if (etag !== null && (stored.etag === null || !matchesWeakly(etag, stored.etag))) return "invalidate";
  if (lastModified !== null && lastModified !== stored.lastModified) return "invalidate";
  return etag === null && lastModified === null ? "nothing" : "freshen";
}
