import type { DictionaryCoding } from "../deltas/available-dictionary.ts";
import { readCacheDirectives } from "../directives/cache-directives.ts";
import { Fields } from "../fields/fields.ts";
import type { StoredFields } from "../storing/stored-response.ts";
import { DIGESTS } from "../validation/conditions.ts";
import { entityTags, isWeak, matchesWeakly } from "../validation/entity-tag.ts";
import type { Coding } from "./accept-encoding.ts";
import { isOfType } from "./coded-types.ts";

/** What the owner wants coded. */
export interface CodingRules {
  /** A smaller body stays plain. */
  readonly minBytes: number;
  /** A larger body stays plain. */
  readonly maxBytes: number;
  /** Media types in lower case: `application/json`, all of a kind as `text/*`, or all with an ending as `*+json`. */
  readonly types: readonly string[];
}

/** What decides whether the edge may code a response. */
export interface CodableResponse {
  readonly status: number;
  /** A field's text; `null` if it is absent. */
  readonly field: (name: string) => string | null;
  /** The texts of all fields that hold cache directives, also of those that clients do not see. */
  readonly directives: readonly string[];
  /** `null` if it is not known yet. */
  readonly bodyBytes: number | null;
}

/** Why a response stays plain. */
export type StaysPlain = "status" | "encoded" | "no-transform" | "digest" | "type" | "size";

/**
 * Fields about the bytes of the origin, which those of a coding would contradict: digests, and signatures (RFC 9421), which
 * may be over any of the fields that change.
 */
const ABOUT_BYTES = [...DIGESTS, "signature"];

/**
 * Why a response may not be sent coded by the edge; `null` if it may. `no-transform` forbids it (RFC 9111 §5.2.2.6). Only
 * a 200 is coded, and only if it has no coding yet.
 */
export function whyPlain(response: CodableResponse, rules: CodingRules): StaysPlain | null {
  const { status, field, directives, bodyBytes } = response;
  if (status !== 200) return "status";
  if (field("content-encoding") !== null) return "encoded";
  if (directives.some(forbidsTransforming)) return "no-transform";
  if (ABOUT_BYTES.some((name) => field(name) !== null)) return "digest";
  if (!isOfType(field("content-type"), rules.types)) return "type";
  if (bodyBytes !== null && (bodyBytes < rules.minBytes || bodyBytes > rules.maxBytes)) return "size";
  return null;
}

/** Whether a `Cache-Control` says `no-transform`, or cannot be read, so that it may have meant to. */
export function forbidsTransforming(text: string): boolean {
  return readCacheDirectives(text)?.some(({ name }) => name === "no-transform") ?? true;
}

/**
 * Sets, in place, the fields that all forms of a response have that is also sent coded: `Vary` names what selects among them
 * (RFC 9110 §12.5.5). `match`: the pattern of the URLs for which it is a dictionary (RFC 9842 §2.1, §6.2); `null` if it is
 * none.
 */
export function setFieldsOfForms(fields: Fields, match: string | null): void {
  fields.set("vary", variedBy(fields.get("vary")));
  if (match === null) return;
  fields.set("vary", variedBy(fields.get("vary"), "Available-Dictionary"));
  fields.set("use-as-dictionary", `match=${quoted(match)}`);
}

/** A String of RFC 9651 §3.3.3. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

/** The fields of a response that is also sent coded, in its plain form. */
export function plainFormFields(fields: StoredFields, match: string | null = null): StoredFields {
  return plainForm(fields, match).lines(() => true);
}

function plainForm(fields: StoredFields, match: string | null): Fields {
  const shown = Fields.of([...fields]);
  setFieldsOfForms(shown, match);
  return shown;
}

/** A `Vary` that names this field, too: by default, `Accept-Encoding`. */
export function variedBy(vary: string | null, field = "Accept-Encoding"): string {
  const names = vary?.split(",").map((name) => name.trim().toLowerCase()) ?? [];
  if (names.includes(field.toLowerCase()) || names.includes("*")) return vary!;
  return names.some((name) => name !== "") ? `${vary}, ${field}` : field;
}

/** The fields of the plain form with the tag of the coded one. */
export function weakFormFields(fields: StoredFields, match: string | null = null): StoredFields {
  const shown = plainForm(fields, match);
  const etag = shown.get("etag");
  if (etag !== null) shown.set("etag", weakened(etag));
  return shown.lines(() => true);
}

/**
 * The fields of the coded form. Its bytes are others than those that the origin's tag is for, so its tag is weak. RFC 9110
 * §8.8.1, §8.8.3.3.
 */
export function codedFormFields(
  fields: StoredFields,
  coding: Coding | DictionaryCoding,
  match: string | null = null,
): StoredFields {
  return [...weakFormFields(fields, match), "content-encoding", coding];
}

/** The same tag as a weak one. RFC 9110 §8.8.3. */
export function weakened(tag: string): string {
  return isWeak(tag) ? tag : `W/${tag}`;
}

/**
 * The form that a client with this `If-None-Match` holds, by its tag; `null` if it holds none, or if the tag does not
 * show it. The 304 then repeats the client's tag: with another one, it would not apply to the response that the client
 * has stored (RFC 9111 §4.3.4).
 */
export function heldForm(ifNoneMatch: string | null, etag: string | null): "plain" | "weak" | null {
  if (ifNoneMatch === null || etag === null) return null;
  const tags = entityTags(ifNoneMatch);
  if (!isWeak(etag) && tags.includes(etag)) return "plain";
  return tags.some((tag) => matchesWeakly(tag, etag)) ? "weak" : null;
}
