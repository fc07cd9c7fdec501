import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import { goesThrough } from "../forwarding/origin-request-fields.ts";

/** What is known of a request beside its fields. */
export interface UnkeyedFieldRules {
  /** Fields whose values are part of what is looked up, in lower case. */
  readonly inKey: readonly string[];
  /** True if it carries cookies that are not ignored. */
  readonly identifying: boolean;
}

/** A name, a number, or a list of such with weights. */
const LIST = /^[A-Za-z0-9*][A-Za-z0-9 ,;=.*+/_-]*$/;
/** Any printable text, without what a page would take for markup, or a firewall for an attack. */
const WORDS = /^[^<>"'\\^`{|}]*$/;
/** The same with quotes, where they belong: a structured field. RFC 9651. */
const STRUCTURED = /^[^<>'\\^`{|}]*$/;
/** Directives for the caches on the way, which every cache passes on (RFC 9111 §5.2), and nothing that an origin made up. */
const DIRECTIVES =
  /^(?:(?:no-cache|no-store|no-transform|only-if-cached|m(?:ax-age|in-fresh|ax-stale)(?:=\d{1,10})?)(?:, *|$))+$/i;

/**
 * What browsers, crawlers and command lines send, and how such a value looks. An origin that answers by one of these says
 * so in `Vary`, or would be wrong behind any cache (RFC 9110 §12.5.5). Another field, or another value, may have made
 * the origin answer what nobody else would get.
 */
const ORDINARY: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    accept: LIST,
    "accept-charset": LIST,
    "accept-language": LIST,
    "cache-control": DIRECTIVES,
    dnt: LIST,
    "early-data": LIST,
    from: WORDS,
    pragma: DIRECTIVES,
    priority: LIST,
    purpose: LIST,
    "save-data": LIST,
    traceparent: LIST,
    "upgrade-insecure-requests": LIST,
    "user-agent": WORDS,
    "cdn-loop": STRUCTURED,
    via: WORDS,
  }),
);

/** The edge adds to these, so that what the client sent of them goes along. */
const CONTINUED = new Set(["cdn-loop", "via"]);

/** The longest value, and the most of all names and values together: well under what servers refuse. */
const MAX_VALUE_CHARACTERS = 1024;
const MAX_CHARACTERS = 4096;

const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Whether an error that the origin answers may be taken for what everybody would get. One request with an oversized, odd
 * or unknown field can make an origin fail, and a stored failure would reach all visitors. So can a request that some
 * other site's page made.
 */
export function isPlainRequest(
  fields: Iterable<readonly [name: string, value: string]>,
  { inKey, identifying }: UnkeyedFieldRules,
): boolean {
  if (identifying) return false;
  const sent = [...fields];
  if (sent.some(([name, value]) => name.toLowerCase() === "sec-fetch-site" && value === "cross-site")) return false;
  return unkeyedField(sent, inKey) === null;
}

/**
 * The first field that reached the origin and that it may have answered by, though it is neither in the key nor what
 * everybody sends; `null` for none.
 */
export function unkeyedField(
  fields: Iterable<readonly [name: string, value: string]>,
  inKey: readonly string[],
): string | null {
  const sent = [...fields].map(([name, value]) => [name.toLowerCase(), value] as const);
  const ownHop = hopByHopFields(sent.find(([name]) => name === "connection")?.[1] ?? null);
  let characters = 0;
  for (const [name, value] of sent) {
    const isSeen = CONTINUED.has(name) || goesThrough(name, inKey);
    if (!isSeen || ownHop.includes(name) || name === "authorization") continue; // no answer to credentials is kept
    characters += name.length + value.length;
    if (characters > MAX_CHARACTERS || value.length > MAX_VALUE_CHARACTERS || !PRINTABLE.test(value)) return name;
    if (inKey.includes(name)) continue;
    const form = ORDINARY.get(name) ?? (name.startsWith("sec-") ? STRUCTURED : undefined);
    if (!form || (value !== "" && !form.test(value))) return name;
  }
  return null;
}
