import { isToken } from "../fields/token.ts";
import { meaningInVary, type OwnersFields } from "../request/request-fields.ts";
import { acceptedCodings, acceptsCoding, coversCodings } from "./accept-encoding.ts";
import { type PartFields, unnamedPartFields } from "./part-fields.ts";

/** The fields of the request that selected a stored response, sorted by name; `null` for an absent one. */
export type VariantFields = readonly (readonly [name: string, value: string | null])[];

/** A request's fields as the origin sees them. A field that the edge removes is absent. */
export interface SelectingFields {
  /** The field's text; `null` if it is absent. */
  field(name: string): string | null;
  /** The same in the form of `normalizedValue`. */
  value(name: string): string | null;
  /** The codings that the client accepts, as `acceptedCodings` writes them, also where the origin is not offered them. */
  readonly acceptedCodings: string;
}

/** What compression and CORS add to the `Vary` of all answers. */
const OF_MIDDLEWARE = new Set([
  "accept-encoding",
  "origin",
  "access-control-request-method",
  "access-control-request-headers",
]);

/** Fields that are case-insensitive lists. RFC 9110 §12.5. */
const CASELESS_LISTS = new Set(["accept", "accept-charset", "accept-language"]);

/**
 * The most characters of a variant's values together. Longer values are not a choice among variants, but a client's own
 * text.
 */
const MAX_VALUE_CHARACTERS = 1024;
/** The most characters of their names together. Sites name a few hundred; each sibling adds its own. */
const MAX_NAME_CHARACTERS = 4096;

/**
 * The names in a `Vary`: in lower case, sorted, each once. RFC 9110 §12.5.5. A member that is not a name may mean
 * anything, so it counts as `*`.
 */
export function varyFields(vary: string | null): readonly string[] | "*" {
  if (vary === null) return [];
  const names = new Set<string>();
  for (const member of vary.split(",")) {
    const name = member.trim().toLowerCase();
    if (name === "") continue; // RFC 9110 §5.6.1.2: empty members are ignored
    if (name === "*" || !isToken(name)) return "*";
    names.add(name);
  }
  return [...names].sort();
}

/** The properties of a response and its request that show which fields selected it. */
export interface SelectionHints {
  /** A field of the response. */
  readonly field: (name: string) => string | null;
  /** True if the request had an `Origin`. */
  readonly askedAcross: boolean;
  /** Fields, in lower case, that the route keys by, whatever the origin says. */
  readonly keyFields: readonly string[];
  /** The frameworks by whose fields the request asks for a part. */
  readonly parts: readonly PartFields[];
  /** The fields by which other responses of the URL vary that are stored and fresh. Default: none. */
  readonly siblingsVaryBy?: readonly string[];
  /** The owner's rules for other fields. Default: none. */
  readonly owners?: OwnersFields;
}

/**
 * The fields that select among the stored responses of one key; `*` if the response can answer no other request. RFC
 * 9111 §4.1. Fields that origins forget to name are added: `Accept-Encoding` if the content has a coding, `Origin` if the
 * response allows scripts of another origin to read it, unless it allows all origins and the request named none, and those
 * by which the request asked for a part. A response without `Vary`, but for what compression and CORS add to all, is taken
 * for the default one of a URL whose others have it, and must not be used in their place; so is one without
 * `Access-Control-Allow-Origin`.
 */
export function selectingFields({
  field,
  askedAcross,
  keyFields,
  parts,
  siblingsVaryBy = [],
  owners,
}: SelectionHints): readonly string[] | "*" {
  const allowedOrigin = field("access-control-allow-origin");
  const names = varyFields(field("vary"));
  if (names === "*") return "*";
  const named = names.filter((name) => !keyFields.includes(name));
  if (named.some((name) => meaningInVary(name, owners) === "unknowable")) return "*";
  const selecting = new Set([...keyFields, ...named.filter((name) => meaningInVary(name, owners) === "selects")]);
  for (const name of unnamedPartFields(parts, [...selecting])) selecting.add(name);
  if (field("content-encoding") !== null) selecting.add("accept-encoding");
  if (allowedOrigin !== null && (askedAcross || allowedOrigin.trim() !== "*")) selecting.add("origin");
  const isDefault = named.every((name) => OF_MIDDLEWARE.has(name) || meaningInVary(name, owners) !== "selects");
  for (const name of siblingsVaryBy) if (name === "origin" ? allowedOrigin === null : isDefault) selecting.add(name);
  return [...selecting].sort();
}

/**
 * One text for all equivalent values of a selecting field, as RFC 9111 §4.1 permits. `name` is in lower case. An absent
 * field is `null`, which differs from an empty one, except for `Accept-Encoding`, where both mean `identity`. A value
 * with a quoted string is left unchanged, because its commas and spaces may be significant.
 */
export function normalizedValue(name: string, value: string | null): string | null {
  if (name === "accept-encoding") return acceptedCodings(value);
  if (value === null) return null;
  if (value.includes('"')) return value.trim();
  if (!CASELESS_LISTS.has(name)) return trimmedAround(",", value);
  const members = trimmedAround("=", trimmedAround(";", trimmedAround(",", value.toLowerCase())));
  return members
    .split(",")
    .filter((member) => member !== "")
    .join(",");
}

function trimmedAround(separator: string, text: string): string {
  return text
    .split(separator)
    .map((part) => part.trim())
    .join(separator);
}

/**
 * The values of the selecting fields in a request. Of a response that `isCoded`, `Accept-Encoding` is what the client
 * accepts, whatever the origin was offered.
 */
export function variantOf(names: readonly string[], request: SelectingFields, isCoded = false): VariantFields {
  const value = (name: string) =>
    isCoded && name === "accept-encoding" ? request.acceptedCodings : request.value(name);
  return names.map((name) => [name, value(name)] as const);
}

/**
 * Whether a stored response of this variant and coding may be selected for a request. RFC 9111 §4.1. One in a coding
 * that the client does not accept is what the origin has answered to another client that accepts the same. `passedOver`
 * are the codings that the origin does not choose where it can choose the stored one's.
 */
export function matchesVariant(
  variant: VariantFields,
  contentEncoding: string | null,
  request: SelectingFields,
  passedOver = "identity",
): boolean {
  if (
    contentEncoding !== null &&
    !acceptsCoding(request.acceptedCodings, contentEncoding) &&
    !acceptsTheSame(variant, request)
  )
    return false;
  return variant.every(([name, value]) => {
    const asked = request.value(name);
    return name === "accept-encoding"
      ? coversCodings(value ?? "identity", asked ?? "identity", passedOver)
      : asked === value;
  });
}

/** Whether a response with a coding came for a client that accepts the same codings. */
function acceptsTheSame(variant: VariantFields, request: SelectingFields): boolean {
  return variant.some(([name, value]) => name === "accept-encoding" && value === request.acceptedCodings);
}

/** Whether the names or the values of a variant are too long for it to be stored. */
export function isVariantTooLong(variant: VariantFields): boolean {
  let [names, values] = [0, 0];
  for (const [name, value] of variant) {
    names += name.length;
    values += value?.length ?? 0;
  }
  return names > MAX_NAME_CHARACTERS || values > MAX_VALUE_CHARACTERS;
}
