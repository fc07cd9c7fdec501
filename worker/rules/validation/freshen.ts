import { Fields } from "../fields/fields.ts";
import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import { DIGESTS, type Validators } from "./conditions.ts";
import { isWeak, matchesWeakly } from "./entity-tag.ts";

/**
 * Whether a 304 confirms the stored response whose validators were sent. RFC 9111 §4.3.4.
 *
 * The date does not count if both have a tag, because the tag is more precise. The condition that a 304 answers named
 * only this response, so two things are enough that are not in the RFC: a 304 without validators, because many origins
 * forget to repeat them, and the strong form of the stored weak tag, because servers that compress send it.
 */
export function confirms({ etag, lastModified }: Validators, stored: Validators): boolean {
  if (etag === null && lastModified === null) return true;
  if (etag !== null && stored.etag !== null) return matchesWeakly(stored.etag, etag);
  return (etag === null || isWeak(etag)) && lastModified !== null && stored.lastModified === lastModified;
}

/**
 * Fields that are never taken from a 304. Those before the cookies describe the stored bytes, which a 304 does not replace: a
 * wrong value, such as that of another coding with the same weak tag, would make them unreadable. A cookie is for the visitor
 * whose request brought the 304.
 */
const NEVER_FROM_304 = new Set([
  ...DIGESTS,
  "content-length",
  "content-encoding",
  "content-range",
  "set-cookie",
  "set-cookie2",
]);

/**
 * The fields of a stored response after a 304 confirmed it. RFC 9111 §3.2, §4.3.4. Each field of the 304 replaces all
 * lines of that name; the others stay. `Content-Type` and the other `Content-` fields are replaced, too: the stored
 * bytes are those that the origin sent, so its current statements about them, such as a charset or a security policy,
 * have to apply. A weak entity tag stays, because its strong form is for other bytes. The caller handles tag fields and
 * `Age`, as when a response is stored.
 */
export function freshenFields(stored: Fields, from304: Fields): Fields {
  const ownHop = hopByHopFields(from304.get("connection"));
  const keepsTag = isWeak(stored.get("etag") ?? "");
  const taken = from304.filter(
    (name) => !NEVER_FROM_304.has(name) && !ownHop.has(name) && !(keepsTag && name === "etag"),
  );
  return new Fields([...stored.filter((name) => !taken.has(name)), ...taken]);
}

/** The properties by which a stored response is compared with a 200 to HEAD; `null` for one that it does not have. */
export interface ForHead extends Validators {
  readonly bodyBytes: number | null;
  readonly contentEncoding: string | null;
}

/**
 * The effect of a 200 to HEAD on a stored response that could have answered it. RFC 9111 §4.3.5. All its properties
 * must match; otherwise the stored response is invalid. Equal lengths without a validator prove nothing, so nothing is
 * done. Lengths in different codings are not compared: many servers compress the answers to GET only.
 */
export function freshenByHead(stored: ForHead, head: ForHead): "freshen" | "invalidate" | "nothing" {
  const { etag, lastModified, bodyBytes } = head;
  const isComparable = bodyBytes !== null && head.contentEncoding === stored.contentEncoding;
  if (isComparable && bodyBytes !== stored.bodyBytes) return "invalidate";
  if (etag !== null && (stored.etag === null || !matchesWeakly(etag, stored.etag))) return "invalidate";
  if (lastModified !== null && lastModified !== stored.lastModified) return "invalidate";
  return etag === null && lastModified === null ? "nothing" : "freshen";
}
