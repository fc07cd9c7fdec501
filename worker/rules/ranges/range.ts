/** A part of a body by the positions of its first and last byte, both inclusive. RFC 9110 §14.1.2. */
export interface BytePart {
  readonly first: number;
  readonly last: number;
}

/** The meaning of a `Range` for a body: the whole body, some parts, or none that the body has. */
export type RangeVerdict =
  | { readonly kind: "whole" }
  | { readonly kind: "parts"; readonly parts: readonly BytePart[] }
  | { readonly kind: "unsatisfiable" };

/** More ranges than this are treated as an attack, and the whole body is sent. RFC 9110 §17.15. */
const MAX_RANGES = 16;

/**
 * Reads `Range` for a body of known length. RFC 9110 §14.1.1, §14.1.2, §14.2.
 *
 * The field is ignored, as §14.2 permits, if it has another unit, is malformed, has more than 16 ranges, has ranges
 * that overlap so much that their sum exceeds the body, or is for an empty body, for which no `Content-Range` can be
 * written. Parts that overlap or touch are merged (§15.3.7.2); the order of the request is kept.
 */
export function parseRange(field: string | null, lengthBytes: number): RangeVerdict {
  if (field === null || lengthBytes === 0) return { kind: "whole" };
  const equals = field.indexOf("=");
  if (field.slice(0, Math.max(0, equals)).trimStart().toLowerCase() !== "bytes") return { kind: "whole" };
  const specs = field
    .slice(equals + 1)
    .split(",")
    .map((spec) => spec.trim())
    .filter((spec) => spec !== "");
  if (specs.length === 0 || specs.length > MAX_RANGES) return { kind: "whole" };

  let parts: BytePart[] = [];
  let askedBytes = 0;
  for (const spec of specs) {
    const part = parseSpec(spec, lengthBytes);
    if (part === "malformed") return { kind: "whole" };
    if (part === "unsatisfiable") continue;
    askedBytes += part.last - part.first + 1;
    parts = withPart(parts, part);
  }
  if (parts.length === 0) return { kind: "unsatisfiable" };
  return askedBytes > lengthBytes ? { kind: "whole" } : { kind: "parts", parts };
}

/** `first-last`, `first-` or `-suffix`. Numbers too large for a double are only compared. */
function parseSpec(spec: string, lengthBytes: number): BytePart | "malformed" | "unsatisfiable" {
  const texts = /^([0-9]*)-([0-9]*)$/.exec(spec);
  if (!texts || spec === "-") return "malformed";
  if (texts[1] === "") {
    const suffixBytes = Math.min(Number(texts[2]), lengthBytes);
    return suffixBytes === 0 ? "unsatisfiable" : { first: lengthBytes - suffixBytes, last: lengthBytes - 1 };
  }
  const first = Number(texts[1]);
  const last = texts[2] === "" ? Number.POSITIVE_INFINITY : Number(texts[2]);
  if (first > last) return "malformed";
  return first >= lengthBytes ? "unsatisfiable" : { first, last: Math.min(last, lengthBytes - 1) };
}

/** Adds a part. It is merged with those that it overlaps or touches, at the place of the first of them. */
function withPart(parts: readonly BytePart[], added: BytePart): BytePart[] {
  const touches = (part: BytePart) => part.first <= added.last + 1 && added.first <= part.last + 1;
  const touched = parts.filter(touches);
  if (touched.length === 0) return [...parts, added];
  const joined = {
    first: Math.min(added.first, ...touched.map((part) => part.first)),
    last: Math.max(added.last, ...touched.map((part) => part.last)),
  };
  return parts.flatMap((part) => (part === touched[0] ? [joined] : touched.includes(part) ? [] : [part]));
}
