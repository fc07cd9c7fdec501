import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import type { Identity } from "../identity/identity.ts";
import { acceptsPages } from "../variants/accepts-pages.ts";
import { isTrusted, NO_OWNERS_FIELDS, ordinaryForm, REQUEST_FIELDS, reachesOriginAsSent } from "./request-fields.ts";

/** What is known of a request beside its fields. */
export interface UnkeyedFieldRules {
  /** Fields, in lower case, whose values select the response. */
  readonly inKey: readonly string[];
  readonly identity: Identity;
  /** Fields that the owner drops; a trailing `*` stands for any ending. */
  readonly droppedFields: readonly string[];
}

/** The edge adds to these, so that what the client sent of them goes along. */
const CONTINUED: ReadonlySet<string> = new Set(REQUEST_FIELDS.continued);

/** The longest value, and the most of all names and values together: well under what servers refuse. */
const MAX_VALUE_CHARACTERS = 1024;
const MAX_CHARACTERS = 4096;

const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Whether an error that the origin answers may be taken for what everybody would get. One request with an oversized,
 * odd or unknown field can make an origin fail, and a stored failure would reach all visitors. So can a request that
 * some other site's page made, or one that takes neither HTML nor anything else. That the owner trusts a field does not help: it is said of pages.
 */
export function isPlainRequest(
  fields: Iterable<readonly [name: string, value: string]>,
  { inKey, identity, droppedFields }: UnkeyedFieldRules,
): boolean {
  if (identity !== "anonymous") return false;
  const sent = [...fields];
  if (sent.some(([name, value]) => name.toLowerCase() === "sec-fetch-site" && value === "cross-site")) return false;
  const accept = sent.find(([name]) => name.toLowerCase() === "accept")?.[1] ?? null;
  if (!inKey.includes("accept") && !acceptsPages(accept)) return false;
  return unkeyedField(sent, inKey, { ...NO_OWNERS_FIELDS, droppedFields }) === null;
}

/**
 * The first field that reached the origin and that it may have answered by, though it is neither in the key nor what
 * everybody sends; `null` for none.
 */
export function unkeyedField(
  fields: Iterable<readonly [name: string, value: string]>,
  inKey: readonly string[],
  owners = NO_OWNERS_FIELDS,
): string | null {
  const sent = [...fields].map(([name, value]) => [name.toLowerCase(), value] as const);
  const ownHop = hopByHopFields(sent.find(([name]) => name === "connection")?.[1] ?? null);
  const { droppedFields, trustedFields } = owners;
  const rules = { keyFields: inKey, droppedFields, trustedFields };
  let characters = 0;
  for (const [name, value] of sent) {
    const isSeen = CONTINUED.has(name) || reachesOriginAsSent(name, value, rules);
    if (!isSeen || ownHop.includes(name) || name === "authorization") continue; // see `storable`
    characters += name.length + value.length;
    if (characters > MAX_CHARACTERS || value.length > MAX_VALUE_CHARACTERS || !PRINTABLE.test(value)) return name;
    if (inKey.includes(name) || isTrusted(name, owners)) continue;
    const form = ordinaryForm(name);
    if (!form || (value !== "" && !form.test(value))) return name;
  }
  return null;
}
