/** The syntax of an entity tag: a quoted text, with `W/` before it if it is weak. RFC 9110 §8.8.3. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\uffff]*"$/;

/** Whether a text is one entity tag. Some origins send malformed ones, mostly without quotes. */
export function isEntityTag(text: string): boolean {
  return ENTITY_TAG.test(text);
}

/** The members of a list of entity tags. RFC 9110 §8.8.3. */
export function entityTags(text: string): string[] {
  return text.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/** Strong comparison: the same tag, and neither is weak. RFC 9110 §8.8.3.2. */
export function matchesStrongly(one: string, other: string): boolean {
  return one === other && !isWeak(one);
}

/** Weak comparison: the same tag, whether weak or not. RFC 9110 §8.8.3.2. */
export function matchesWeakly(one: string, other: string): boolean {
  return withoutWeakness(one) === withoutWeakness(other);
}

/** Whether a tag is weak, so that it does not promise the same bytes. RFC 9110 §8.8.1. */
export function isWeak(tag: string): boolean {
  return tag.startsWith("W/");
}

function withoutWeakness(tag: string): string {
  return isWeak(tag) ? tag.slice(2) : tag;
}
