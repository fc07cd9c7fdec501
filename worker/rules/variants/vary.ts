import { isToken } from "../fields/token.ts";
import { meaningInVary, type OwnersFields } from "../request/request-fields.ts";
import { acceptedCodings, acceptsCoding, coversCodings } from "./accept-encoding.ts";

/** The fields of the request by which a stored response was selected, sorted by name; `null` for an absent one. */
export type VariantFields = readonly (readonly [name: string, value: string | null])[];

/** A request's fields as the origin gets to see them: a field that the edge takes away is absent. */
export interface SelectingFields {
  /** The field's text; `null` if it is absent. */
  field(name: string): string | null;
  /** The same in the form of `normalValue`. */
  value(name: string): string | null;
}

/** Fields that are lists without regard to case. RFC 9110 §12.5. */
const CASELESS_LISTS = new Set(["accept", "accept-charset", "accept-language"]);

/** The most characters that the values of a variant have together. More is no choice, but a client's own text. */
const MAX_VALUE_CHARACTERS = 512;

/**
 * The names in a `Vary`: in lower case, sorted, each once. RFC 9110 §12.5.5. A member that is no name may mean
 * anything, so it counts as `*`.
 */
export function varyFields(vary: string | null): readonly string[] | "*" {
  if (vary === null) return [];
  const names = new Set<string>();
  for (const member of vary.split(",")) {
    const name = member.trim().toLowerCase();
    if (name === "") continue; // RFC 9110 §5.6.1.2: an empty member is none
    if (name === "*" || !isToken(name)) return "*";
    names.add(name);
  }
  return [...names].sort();
}

/** The parts of a response that show by which fields of the request it was selected. */
export interface SelectionHints {
  readonly vary: string | null;
  readonly contentEncoding: string | null;
  /** `Access-Control-Allow-Origin`; `null` for none. */
  readonly allowedOrigin: string | null;
  /** True if the request had an `Origin`. */
  readonly askedAcross: boolean;
  /** Fields, in lower case, that the route keys by, whatever the origin says. */
  readonly keyFields: readonly string[];
  /** What the owner says of other fields. Default: nothing. */
  readonly owners?: OwnersFields;
}

/**
 * The fields that select among the stored responses of one key; `*` if the response can serve no second request.
 * RFC 9111 §4.1. Two that origins forget to name count as named: content with a coding was selected by
 * `Accept-Encoding`, and what scripts of another origin may read by `Origin`, unless all may and none was named.
 */
export function selectingFields({
  vary,
  contentEncoding,
  allowedOrigin,
  askedAcross,
  keyFields,
  owners,
}: SelectionHints): readonly string[] | "*" {
  const names = varyFields(vary);
  if (names === "*") return "*";
  const named = names.filter((name) => !keyFields.includes(name));
  if (named.some((name) => meaningInVary(name, owners) === "unknowable")) return "*";
  const selecting = new Set([...keyFields, ...named.filter((name) => meaningInVary(name, owners) === "selects")]);
  if (contentEncoding !== null) selecting.add("accept-encoding");
  if (allowedOrigin !== null && (askedAcross || allowedOrigin.trim() !== "*")) selecting.add("origin");
  return [...selecting].sort();
}

/**
 * One text for all values of a selecting field that mean the same, as RFC 9111 §4.1 permits. `name` is in lower case.
 * An absent field is `null`, which is not the same as an empty one; only for `Accept-Encoding` both mean `identity`.
 * A value with a quoted string is left as it is, for its commas and spaces may count.
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

/** What a request says in the selecting fields. */
export function variantOf(names: readonly string[], request: SelectingFields): VariantFields {
  return names.map((name) => [name, request.value(name)] as const);
}

/** Whether a stored response of this variant and coding may be selected for a request. RFC 9111 §4.1. */
export function matchesVariant(
  variant: VariantFields,
  contentEncoding: string | null,
  request: SelectingFields,
): boolean {
  if (contentEncoding !== null && !acceptsCoding(request.value("accept-encoding") ?? "identity", contentEncoding)) {
    return false;
  }
  return variant.every(([name, value]) => {
    const asked = request.value(name);
    return name === "accept-encoding" ? coversCodings(value ?? "identity", asked ?? "identity") : asked === value;
  });
}

/** Whether the values of a variant are too long for it to be stored. */
export function isVariantTooLong(variant: VariantFields): boolean {
  return variant.reduce((characters, [, value]) => characters + (value?.length ?? 0), 0) > MAX_VALUE_CHARACTERS;
}
