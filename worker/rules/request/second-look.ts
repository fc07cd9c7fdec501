import { Fields } from "../fields/fields.ts";
import type { Identity } from "../identity/identity.ts";
import { bodyDigest } from "../storing/body-digest.ts";
import { mayChoosePart } from "../variants/part-fields.ts";
import { speaksOfCredentials } from "./credential-names.ts";
import type { RequestHeaders } from "./request-facts.ts";
import { type KeyAndOwnersFields, ordinaryForm, reachesOriginAsSent } from "./request-fields.ts";
import { unkeyedField } from "./unkeyed-field.ts";

/** Fields that a request leaves out, with their values. */
export type LeftOut = readonly (readonly [name: string, value: string])[];

/** The request that a plain visitor would have sent, and the fields that it leaves out. */
export interface PlainRequest {
  readonly fields: Fields;
  readonly leftOut: LeftOut;
}

/** The most fields that are left out of a request. */
const MAX_LEFT_OUT = 16;
/**
 * Unpoly sends at most five fields at a time that may choose parts, htmx four. A visitor who invents more would fill the
 * marks.
 */
const MAX_BLAMED = 5;

/**
 * The same request without its unknown fields; `null` if there is no second look: for a visitor who may be known, for a
 * request that signs its fields (RFC 9421), for fields with credentials, for usual fields with unusual values, which every visitor sends in some form, or for `Origin`,
 * which may choose the CORS fields of equal bodies. `inKey`: the fields that select.
 */
export function plainRequest(
  sent: RequestHeaders,
  identity: Identity,
  inKey: readonly string[],
  owners: KeyAndOwnersFields,
): PlainRequest | null {
  if (identity !== "anonymous" || sent.get("signature") !== null) return null;
  let fields = Fields.copy(sent);
  const leftOut: (readonly [name: string, value: string])[] = [];
  for (;;) {
    const name = unkeyedField(fields, inKey, owners);
    if (name === null) return leftOut.length === 0 ? null : { fields, leftOut };
    const isPlain = ordinaryForm(name) !== undefined || inKey.includes(name);
    if (isPlain || name === "origin" || speaksOfCredentials(name) || leftOut.length === MAX_LEFT_OUT) return null;
    leftOut.push([name, fields.get(name)!]);
    fields = fields.filter((other) => other !== name);
  }
}

/** Whether the origin may have refused a request only because it got no `Referer`, as apps do against other sites' links. */
export function mayLackReferer(status: number, sent: RequestHeaders, rules: KeyAndOwnersFields): boolean {
  const referer = sent.get("referer");
  return status === 403 && referer !== null && !reachesOriginAsSent("referer", referer, rules);
}

/** What is compared of an answer. */
export interface AnswerDigest {
  readonly status: number;
  /** Of its content, behind its media type; `null` where the origin only confirmed what is stored. */
  readonly digest: string | null;
}

/** The fields in which two answers with the same body may differ so that they are not the same page. */
const OF_CONTENT = ["location", "content-type", "content-disposition", "content-language"];

/** What tells answers apart: their bodies, and the fields that say what these are. */
export function answerDigest(
  { status, fields }: { readonly status: number; readonly fields: Fields },
  body: Uint8Array,
): AnswerDigest {
  const content = OF_CONTENT.map((name) => fields.get(name));
  return { status, digest: [mediaTypeOf(fields), bodyDigest(body), ...content].join("\n") };
}

/** RFC 9110 §8.3.1. */
function mediaTypeOf(fields: Fields): string {
  return (fields.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
}

/** Whether the field has chosen another kind of answer. A page that changes keeps its media type. */
export function hasOtherType(odd: AnswerDigest, plain: Fields): boolean {
  return odd.digest !== null && !odd.digest.startsWith(`${mediaTypeOf(plain)}\n`);
}

/**
 * What the plain answer says of the odd one. `unlike`: the field decides whether the page is there at all, and nothing is
 * stored. `alike`: the field chooses nothing. `differs`: the field chooses, the page has changed, or each rendering differs.
 */
export function compareAnswers(odd: AnswerDigest, plain: AnswerDigest): "unlike" | "alike" | "differs" {
  if (odd.status !== plain.status) return "unlike";
  return odd.digest === null || odd.digest === plain.digest ? "alike" : "differs";
}

/**
 * Those of the fields left out that may have changed the page. Of several, those by which a framework may choose parts,
 * because it sends them together.
 */
export function fieldsThatMayChoose(leftOut: readonly string[]): readonly string[] {
  const suspects = leftOut.length === 1 ? leftOut : leftOut.filter(mayChoosePart);
  return suspects.length > MAX_BLAMED ? [] : suspects;
}
