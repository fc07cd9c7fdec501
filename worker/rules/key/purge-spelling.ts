/** What clients send in two ways: characters that some escape and others do not, and escapes, which have two cases. */
const SPELT_TWO_WAYS = /[[\]{|}\\^`']|%[\da-f]{2}/gi;

/**
 * The spelling of a path or a query in purge keys, in which all of these are escapes in upper case. The cache key tells the
 * spellings apart, as an origin may, but who purges a page may spell it otherwise than who asked for it.
 */
export function purgeSpelling(text: string): string {
  return text.replace(SPELT_TWO_WAYS, (each) => (each[1] ? each : `%${each.charCodeAt(0).toString(16)}`).toUpperCase());
}

/**
 * A URL with all of these as characters, and with all of them as escapes, as far as it is written otherwise. Patterns of
 * routes tell them apart, so that another route than that of the caller's spelling may decide which parameters are in the
 * key.
 */
export function otherSpellings(url: string): string[] {
  const [authority = ""] = /^https?:\/\/[^/]*/i.exec(url) ?? [];
  const raw = url.slice(authority.length).replace(/%(?:27|5[bde]|60|7[bcd])/gi, decodeURIComponent);
  return [...new Set([raw, purgeSpelling(raw)])].map((each) => authority + each).filter((each) => each !== url);
}
