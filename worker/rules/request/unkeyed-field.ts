import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import type { Identity } from "../identity/identity.ts";
import { ordinaryForm, REQUEST_FIELDS, reachesOriginAsSent } from "./request-fields.ts";

/** What is known of a request beside its fields. */
export interface UnkeyedFieldRules {
  /** Fields, in lower case, whose values select the response. */
  readonly inKey: readonly string[];
  readonly identity: Identity;
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
 * some other site's page made.
 */
export function isPlainRequest(
  fields: Iterable<readonly [name: string, value: string]>,
  { inKey, identity }: UnkeyedFieldRules,
): boolean {
  if (identity !== "anonymous") return false;
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
    const isSeen = CONTINUED.has(name) || reachesOriginAsSent(name, value, inKey);
    if (!isSeen || ownHop.includes(name) || name === "authorization") continue; // no answer to credentials is kept
    characters += name.length + value.length;
    if (characters > MAX_CHARACTERS || value.length > MAX_VALUE_CHARACTERS || !PRINTABLE.test(value)) return name;
    if (inKey.includes(name)) continue;
    const form = ordinaryForm(name);
    if (!form || (value !== "" && !form.test(value))) return name;
  }
  return null;
}
