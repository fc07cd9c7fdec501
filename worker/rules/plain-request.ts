/** What is known of a request beside its fields. */
export interface RequestContext {
  /** Fields whose values are part of what is looked up, in lower case. */
  readonly inKey: readonly string[];
  /** True if it carries cookies that are not ignored. */
  readonly identifying: boolean;
}

/** What the origin never sees as it was sent: replaced or dropped on the way, so that it cannot be odd. */
const NOT_FORWARDED = new Set(["accept-encoding", "cookie", "forwarded", "true-client-ip", "x-real-ip"]);
const NOT_FORWARDED_PREFIXES = ["x-forwarded-", "cf-", "tidemark-"];

/** What browsers, crawlers and command lines send. Another field may be what the origin answered with an error to. */
const ORDINARY = new Set([
  "accept",
  "accept-charset",
  "accept-language",
  "cache-control",
  "cdn-loop",
  "connection",
  "dnt",
  "from",
  "host",
  "if-modified-since",
  "if-none-match",
  "keep-alive",
  "pragma",
  "priority",
  "purpose",
  "referer",
  "save-data",
  "te",
  "upgrade-insecure-requests",
  "user-agent",
  "via",
  "x-requested-with",
]);

/** The longest value, and the most of all names and values together: well under what servers refuse. */
const MOST_VALUE_CHARACTERS = 1024;
const MOST_CHARACTERS = 4096;

/** Printable, and without what the origin's firewall might take for an attack. */
const ORDINARY_VALUE = /^[\x20-\x7e]*$/;
const SUSPICIOUS = /[<>\\^`{|}]/;

/**
 * Whether an error that the origin answers may be taken for what everybody would get. One request with an oversized, odd
 * or unknown field can make an origin fail, and a stored failure would reach all visitors.
 */
export function isPlainRequest(
  fields: Iterable<readonly [name: string, value: string]>,
  { inKey, identifying }: RequestContext,
): boolean {
  if (identifying) return false;
  let characters = 0;
  for (const [sentName, value] of fields) {
    const name = sentName.toLowerCase();
    if (isNotForwarded(name)) continue;
    characters += name.length + value.length;
    if (characters > MOST_CHARACTERS) return false;
    const isKnown = ORDINARY.has(name) || name.startsWith("sec-") || inKey.includes(name);
    if (!isKnown || !isOrdinaryValue(value)) return false;
  }
  return true;
}

function isNotForwarded(name: string): boolean {
  return NOT_FORWARDED.has(name) || NOT_FORWARDED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

function isOrdinaryValue(value: string): boolean {
  return value.length <= MOST_VALUE_CHARACTERS && ORDINARY_VALUE.test(value) && !SUSPICIOUS.test(value);
}
