import { Fields } from "../fields/fields.ts";
import type { Identity } from "../identity/identity.ts";
import { speaksOfCredentials } from "./credential-names.ts";
import { type OwnersFields, ordinaryForm } from "./request-fields.ts";
import { unkeyedField } from "./unkeyed-field.ts";

/** The request that a plain visitor would have sent, and what it leaves out. */
export interface PlainRequest {
  readonly fields: Fields;
  readonly leftOut: readonly string[];
}

/** The most fields that are left out of a request. */
const MAX_LEFT_OUT = 16;

/**
 * The same request without the fields that nobody knows; `null` if no second look is taken. There is none for a visitor
 * who may be told from others, for fields that speak of credentials, or for usual fields with unusual values, which every
 * visitor sends in some way. `inKey` are the fields that select.
 */
export function plainRequest(
  sent: Iterable<readonly [name: string, value: string]>,
  identity: Identity,
  inKey: readonly string[],
  owners: OwnersFields,
): PlainRequest | null {
  if (identity !== "anonymous") return null;
  let fields = new Fields(sent);
  const leftOut: string[] = [];
  for (;;) {
    const name = unkeyedField(fields, inKey, owners);
    if (name === null) return leftOut.length === 0 ? null : { fields, leftOut };
    const isPlain = ordinaryForm(name) !== undefined || inKey.includes(name);
    if (isPlain || speaksOfCredentials(name) || leftOut.length === MAX_LEFT_OUT) return null;
    leftOut.push(name);
    fields = fields.filter((other) => other !== name);
  }
}

/**
 * The beginnings of fields by which frameworks choose a part of a page: htmx, Turbo, pjax, Inertia, Unpoly, Livewire,
 * Next.js and what reads `X-Requested-With`. A few pages that do not heed them say nothing of the next one.
 */
const CHOOSE_PARTS = [
  "hx-",
  "turbo-",
  "x-turbo",
  "x-pjax",
  "x-inertia",
  "x-up-",
  "x-livewire",
  "next-",
  "rsc",
  "x-requested-with",
];

/** Whether a field that chose nothing on some pages may be left out on others. */
export function mayBeIdle(name: string): boolean {
  return !CHOOSE_PARTS.some((prefix) => name.startsWith(prefix));
}

/** What is compared of an answer. */
export interface AnswerDigest {
  readonly status: number;
  /** The digest of its body; `null` where the origin only confirmed what is stored. */
  readonly digest: string | null;
}

/**
 * What the plain answer says of the odd one. `unlike`: the field decides whether the page is there at all, and nothing is
 * stored. `alike`: the field chooses nothing. `differs`: either the field chooses, or each rendering differs.
 */
export function compareAnswers(odd: AnswerDigest, plain: AnswerDigest): "unlike" | "alike" | "differs" {
  if (odd.status !== plain.status) return "unlike";
  return odd.digest === null || odd.digest === plain.digest ? "alike" : "differs";
}

/** Whether a field chooses the page whose odd and plain answers differ: two plain ones agree. */
export function choosesPage(leftOut: readonly string[], plain: AnswerDigest, again: AnswerDigest): boolean {
  return leftOut.length === 1 && compareAnswers(plain, again) === "alike";
}
