/** Whether a text is one entity tag. */
export function isEntityTag(text: string): boolean {
  return entityTags(text)[0] === text;
}

/**
 * The members of a list of entity tags: quoted texts, with `W/` before weak ones. RFC 9110 §8.8.3. A text without quotes
 * is one tag, as Next.js and Javalin send it, because browsers return it as it came.
 */
export function entityTags(text: string): string[] {
  return text.match(/(?:W\/)?"[^"]*"|^[^", *]+$/g) ?? [];
}

/** Strong comparison: the same tag, and neither is weak or malformed. RFC 9110 §8.8.3.2. */
export function matchesStrongly(one: string, other: string | null): boolean {
  return one === other && one.startsWith('"');
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
