/** What clients send in two ways: characters that some escape and others do not, and escapes, which have two cases. */
const SPELT_TWO_WAYS = /[[\]{|}\\^`']|%[\da-f]{2}/gi;

/**
 * The spelling of a path or a query in purge keys, in which all of these are escapes in upper case. The cache key tells the
 * spellings apart, as an origin may, but who purges a page may spell it otherwise than who asked for it.
 */
export function purgeSpelling(text: string): string {
  return text.replace(SPELT_TWO_WAYS, (each) => (each[1] ? each : `%${each.charCodeAt(0).toString(16)}`).toUpperCase());
}
