import type { RequestFacts } from "../request/request-facts.ts";
import type { KeyAndOwnersFields } from "../request/request-fields.ts";
import { isPlainRequest, unkeyedField } from "../request/unkeyed-field.ts";
import { ALL_CODINGS, acceptsCoding } from "../variants/accept-encoding.ts";
import { isVariantTooLong, selectingFields, type VariantFields, variantOf } from "../variants/vary.ts";
import type { NotStored, NotStoredBecause } from "./not-stored.ts";
import { type Storable, type StorableResponse, type StorableRules, storable } from "./storable.ts";
import { isErrorStatus } from "./storable-status.ts";
import { collectTags, TAG_FIELDS } from "./tags.ts";

/** The properties of the request that affect storing, because they may have influenced the answer. */
export type StoreRequest = Pick<RequestFacts, "identity" | "directives" | "fields" | "originView" | "parts">;

/** An answer of the origin to a GET, as it came or as a 304 updated it. */
export interface StoreResponse extends StorableResponse {
  /** The length in bytes of the body to be stored; `null` if it is unknown, or if the body is already stored. */
  readonly lengthBytes: number | null;
  /** True if it redirects to the URL that was requested. */
  readonly redirectsToItself: boolean;
  /** The tags of the stored response that it freshens (R17). */
  readonly earlierTags: readonly string[];
}

/** The owner's rules for storing. */
export interface StoreRules extends StorableRules, KeyAndOwnersFields {
  /** All that the route keys by: they select, whatever `Vary` says. */
  readonly selectingNames: readonly string[];
  /** The fields by which other responses of the URL vary that are stored and fresh. */
  readonly siblingsVaryBy: readonly string[];
  /** The trusted fields that the owner trusts for errors, too. */
  readonly trustedForErrors: readonly string[];
  /** The tags that the route gives. */
  readonly routeTags: readonly string[];
  /** The most tags of one response; with more it is not stored. The owner's, or `DEFAULT_MAX_TAGS`. */
  readonly maxTags: number;
  /** The largest body that is stored with its head, and the largest that is stored at all, in bytes. */
  readonly maxBodyBytes: number;
  readonly maxLargeBodyBytes: number;
}

export type StoreVerdict =
  | ({
      readonly kind: "store";
      readonly variant: VariantFields;
      readonly tags: readonly string[];
      /** True if the body is too large to be stored with its head. */
      readonly isLarge: boolean;
    } & Storable)
  | ({ readonly kind: "not-stored" } & NotStored);

const OF_ONE_VISITOR: ReadonlySet<string> = new Set(["cookie", "authorization"]);

/** The most characters of a field's name that are told: a client can make it as long as it likes. */
const MAX_TOLD_CHARACTERS = 64;

/**
 * Whether the answer to a GET may be stored, and in which form. `NotStoredBecause` lists the reasons against it in the
 * order in which they are checked: first RFC 9111 §3 in `storable`, then the rules for variants, tags, unkeyed fields
 * and sizes.
 */
export function mayStore(request: StoreRequest, response: StoreResponse, rules: StoreRules): StoreVerdict {
  const { identity, directives, fields, originView, parts } = request;
  const { field, status, lengthBytes } = response;
  const notStored = (because: NotStoredBecause): StoreVerdict => ({ kind: "not-stored", because });
  const isPlain = !isErrorStatus(status) || isPlainRequest(fields, { ...rules, inKey: rules.selectingNames, identity });
  const verdict = storable({ identity, forbidsStoring: directives.forbidsStoring, isPlain }, response, rules);
  if (verdict.kind === "not-stored") return verdict;

  const names = selectingFields({
    field,
    askedAcross: fields.get("origin") !== null,
    keyFields: rules.selectingNames,
    parts,
    siblingsVaryBy: rules.siblingsVaryBy,
    owners: rules,
  });
  if (names === "*") return notStored("vary");
  // A visitor's own cookies and credentials do not choose among a few variants: each visitor would have an entry.
  if (names.some((name) => OF_ONE_VISITOR.has(name) && originView.value(name) !== null)) return notStored("vary");
  const variant = variantOf(names, originView, field("content-encoding") !== null);
  if (isVariantTooLong(variant)) return notStored("vary-too-long");
  if (!acceptsCoding(ALL_CODINGS, field("content-encoding") ?? "")) return notStored("coding");

  const tagTexts = TAG_FIELDS.map(field).filter((text) => text !== null);
  const tags = collectTags(rules.routeTags, tagTexts, rules.maxTags, response.earlierTags);
  if (tags.kind === "refused") return notStored(tags.because);

  const odd = unkeyedField(fields, names, rules);
  if (odd !== null) return { kind: "not-stored", because: "unkeyed-field", field: odd.slice(0, MAX_TOLD_CHARACTERS) };
  if (response.redirectsToItself) return notStored("redirects-to-itself");
  if (lengthBytes !== null && lengthBytes > rules.maxLargeBodyBytes) return notStored("too-large");
  const isLarge = lengthBytes !== null && lengthBytes > rules.maxBodyBytes;
  return { ...verdict, kind: "store", variant, tags: tags.tags, isLarge };
}
