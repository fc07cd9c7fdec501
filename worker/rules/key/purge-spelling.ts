/** Characters that clients send as escapes, too, and escapes, which have two letter cases. */
const SPELT_TWO_WAYS = /%[0-9a-f]{2}|['*+[\]^`{|}\\]/gi;
/** Those of which the escapes are decoded. Slashes part a path, `&` and `=` a query. RFC 3986 §3.3, §3.4. */
const PLAIN_IN_PATH = /[\w.~!$&()+,:;=@-]/;
const PLAIN_IN_QUERY = /[\w.~!$(),/:;?@-]/;

/**
 * The spelling of a path and a query in purge keys. The cache key tells the spellings apart, as an origin may, but a
 * purge may spell a page otherwise than a request for it.
 */
export function purgeSpelling(text: string): string {
  const queryAt = text.indexOf("?");
  if (queryAt === -1) return spelt(text, PLAIN_IN_PATH);
  const query = spelt(text.slice(queryAt), PLAIN_IN_QUERY);
  // The first `=` of a parameter ends its name; in its value, another parts nothing.
  const plain = query.includes("%3D") ? query.replace(/=[^&]*/g, (value) => value.replaceAll("%3D", "=")) : query;
  return spelt(text.slice(0, queryAt), PLAIN_IN_PATH) + plain;
}

function spelt(text: string, plain: RegExp): string {
  return text.replace(SPELT_TWO_WAYS, (each) => {
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
