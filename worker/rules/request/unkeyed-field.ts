import { hopByHopFields } from "../forwarding/hop-by-hop.ts";
import type { Identity } from "../identity/identity.ts";
import { acceptsPages } from "../variants/accepts-pages.ts";
import type { RequestHeaders } from "./request-facts.ts";
import {
  isContinued,
  isTrusted,
  type KeyAndOwnersFields,
  ordinaryForm,
  reachesOriginAsSent,
} from "./request-fields.ts";

/** The properties of a request, other than its fields, that these rules use. */
export interface UnkeyedFieldRules extends Omit<KeyAndOwnersFields, "trustedFields"> {
  /** Fields, in lower case, whose values select the response. */
  readonly inKey: readonly string[];
  readonly identity: Identity;
  /** Fields that the owner trusts for errors, too; a trailing `*` matches any ending. */
  readonly trustedForErrors: readonly string[];
}

/** The most characters of a value, and of all names and values together: well below the limits of servers. */
const MAX_VALUE_CHARACTERS = 1024;
const MAX_CHARACTERS = 4096;

/** Where a browser says that a request comes from, if no other site has sent it. W3C Fetch Metadata §2.3. */
const OWN_SITE: ReadonlySet<string | null> = new Set([null, "none", "same-origin", "same-site"]);

/**
 * By these a browser says that nobody has asked for the page yet (the Fetch standard, `Sec-Purpose`), or that it would run
 * the answer as a service worker (the Service Workers standard, `Service-Worker`). Some origins refuse both.
 */
const SPECIAL = ["sec-purpose", "x-sec-purpose", "purpose", "service-worker"];

const PRINTABLE = /^[\x20-\x7e]*$/;

/**
 * Whether an error of the origin may be treated as the answer that everybody would get. One request with an oversized,
 * odd or unknown field can make an origin fail, and a stored error would reach all visitors. A request that a page of
 * another site has sent can do the same. A field that the owner trusts for pages alone still counts here.
 */
export function isPlainRequest(
  fields: RequestHeaders,
  { inKey, identity, trustedForErrors, ...owners }: UnkeyedFieldRules,
): boolean {
  if (identity !== "anonymous") return false;
  if (!OWN_SITE.has(fields.get("sec-fetch-site"))) return false;
  return oddField(fields, inKey, { ...owners, trustedFields: trustedForErrors }) === null;
}

/**
 * The field by which a request may get another answer than everybody; `null` for none. An unkeyed one, or one of a request
 * that accepts neither HTML nor anything, or that a browser sends ahead or for a service worker.
 */
export function oddField(fields: RequestHeaders, inKey: readonly string[], owners: KeyAndOwnersFields): string | null {
  const special = SPECIAL.find((name) => !inKey.includes(name) && fields.get(name) !== null);
  if (special !== undefined) return special;
  if (!inKey.includes("accept") && !acceptsPages(fields.get("accept"))) return "accept";
  return unkeyedField(fields, inKey, owners);
}

/**
 * The first field that reaches the origin and may influence its answer, although it is neither in the key nor ordinary;
 * `null` for none.
 */
export function unkeyedField(
  fields: RequestHeaders,
  inKey: readonly string[],
  owners: KeyAndOwnersFields,
): string | null {
  const ownHop = hopByHopFields(fields.get("connection"));
  let characters = 0;
  for (const [name, value] of fields) {
    const isSeen = isContinued(name) || reachesOriginAsSent(name, value, owners);
    if (!isSeen || (ownHop.has(name) && !isContinued(name)) || name === "authorization") continue; // see `storable`
    characters += name.length + value.length;
    if (characters > MAX_CHARACTERS || value.length > MAX_VALUE_CHARACTERS || !PRINTABLE.test(value)) return name;
    if (inKey.includes(name) || isTrusted(name, owners)) continue;
    const form = ordinaryForm(name);
    if (!form || (value !== "" && !form.test(value))) return name;
  }
  return null;
}
