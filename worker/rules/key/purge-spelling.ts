/** Characters that clients send as escapes, too, and escapes, which have two letter cases. */
const SPELT_TWO_WAYS = /[[\]{}|\\^`'*]|%[\da-f]{2}/gi;
const SPELT_TWO_WAYS_IN_QUERY = /[[\]{}|\\^`'*+]|%[\da-f]{2}/gi;
/** Those of which the escapes are decoded. Slashes part a path, `&` and `=` a query. RFC 3986 §3.3, §3.4. */
const PLAIN_IN_PATH = /[\w.~!$&()+,:;=@-]/;
const PLAIN_IN_QUERY = /[\w.~!$(),:;@/?-]/;

/**
 * The spelling of a path and a query in purge keys. The cache key tells the spellings apart, as an origin may, but a
 * purge may spell a page otherwise than a request for it.
 */
export function purgeSpelling(text: string): string {
  const queryAt = text.indexOf("?");
  if (queryAt === -1) return spelt(text, SPELT_TWO_WAYS, PLAIN_IN_PATH);
  const path = spelt(text.slice(0, queryAt), SPELT_TWO_WAYS, PLAIN_IN_PATH);
  return path + spelt(text.slice(queryAt), SPELT_TWO_WAYS_IN_QUERY, PLAIN_IN_QUERY);
}

function spelt(text: string, twoWays: RegExp, plain: RegExp): string {
  return text.replace(twoWays, (each) => {
    const character = each[1] ? String.fromCharCode(Number.parseInt(each.slice(1), 16)) : each;
    return plain.test(character) ? character : escaped(each === "+" ? " " : character);
  });
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`.toUpperCase();
}

/** Whether a route's pattern may match a path in one spelling and not in another: it has more than plain characters. */
export function tellsSpellings(pattern: string): boolean {
  return /[^\w.~/:*?+{}-]/.test(pattern);
}

/**
 * A URL with all characters of its path as they are, and with all as escapes, as far as it is written otherwise. Another
 * route than that of the caller's spelling may decide which parameters are in the key.
 */
export function otherSpellings(url: string): string[] {
  const [, authority = "", path = "", query = ""] = /^(https?:\/\/[^/]*)?([^?]*)(.*)$/is.exec(url) ?? [];
  const raw = path.replace(/%(?:2[146-9bc]|3[abd]|40|5[bde]|60|7[b-d])/gi, decodeURIComponent);
  const paths = new Set([raw, raw.replace(/[!$&'()+,:;=@[\]^`{|}]/g, escaped)]);
  paths.delete(path);
  return [...paths].map((each) => authority + each + query);
}
