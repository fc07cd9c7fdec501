/** Characters that browsers leave as they are, but many clients escape; and their escapes. */
const SPELT_TWO_WAYS = /[[\]|'^]|%(?:5[BDE]|7C|27)/gi;

/**
 * A URL with all of these characters as they are, and with all of them escaped; empty if it has none. The key tells both
 * apart, and who purges a page may spell it otherwise than who asked for it.
 */
export function otherSpellings(url: string): string[] {
  const raw = url.replace(SPELT_TWO_WAYS, decodeURIComponent);
  const escaped = raw.replace(SPELT_TWO_WAYS, (character) => encodeURIComponent(character).replace("'", "%27"));
  return raw === escaped ? [] : [raw, escaped];
}
