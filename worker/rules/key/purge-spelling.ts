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
