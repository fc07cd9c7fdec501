import { isWeak, matchesStrongly, matchesWeakly } from "./entity-tag.ts";
import type { Validators } from "./not-modified.ts";

/**
 * Which of the stored responses that were offered for validation a 304 confirms: its index, or `null` if the 304 may
 * not be used. RFC 9111 §4.3.4. `held` has the most recent first.
 *
 * A strong tag selects by strong comparison only. A weak tag, or else `Last-Modified`, selects the most recent that
 * matches; the date does not count where both have a tag, for the tag is the finer one. A 304 that names nothing is
 * taken for the one response that was offered, if there was but one. There the RFC wants the stored one to lack
 * validators, too; but many origins forget to repeat them, and the condition that they confirmed named only this one.
 */
export function selectedBy304(held: readonly Validators[], got: Validators): number | null {
  const { etag, lastModified } = got;
  if (etag === null && lastModified === null) return held.length === 1 ? 0 : null;
  const index = held.findIndex((stored) => {
    if (etag !== null && !isWeak(etag)) return stored.etag !== null && matchesStrongly(stored.etag, etag);
    if (etag !== null && stored.etag !== null) return matchesWeakly(stored.etag, etag);
    return lastModified !== null && stored.lastModified === lastModified;
  });
  return index === -1 ? null : index;
}
