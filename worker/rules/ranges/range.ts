/** A part of a body by the positions of its first and last byte, both inclusive. RFC 9110 §14.1.2. */
export interface BytePart {
  readonly first: number;
  readonly last: number;
  /** Whether some bytes in it are left out. Default: none are. */
  readonly hasGaps?: boolean;
}

/** The meaning of a `Range` for a body: the whole body, some parts, or none that the body has. */
export type RangeVerdict =
  | { readonly kind: "whole" }
  | { readonly kind: "parts"; readonly parts: readonly BytePart[] }
  | { readonly kind: "unsatisfiable" };

/** More ranges than this are treated as an attack, and the whole body is sent. RFC 9110 §17.15. */
const MAX_RANGES = 256;
/** The bytes of a part's head, about. Those of the first 16 parts do not count, because a small page has small parts. */
const HEAD_BYTES = 128;
const FREE_HEADS = 16;

/**
 * Reads `Range` for a body of known length. RFC 9110 §14.1.1, §14.1.2, §14.2.
 *
 * The field is ignored, as §14.2 permits, if it has another unit, is malformed, has more than 256 ranges, has ranges
 * whose sum, with the heads of their parts, exceeds the body, or is for an empty body, for which no `Content-Range` can
 * be written. Parts that overlap or touch are merged (§15.3.7.2); the order of the request is kept.
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

  const asked: BytePart[] = [];
  let askedBytes = 0;
  for (const spec of specs) {
    const part = parseSpec(spec, lengthBytes);
    if (part === "malformed") return { kind: "whole" };
    if (part === "unsatisfiable") continue;
    askedBytes += part.last - part.first + 1;
    asked.push(part);
  }
  if (asked.length === 0) return { kind: "unsatisfiable" };
  const parts = mergedParts(asked);
  const headBytes = HEAD_BYTES * Math.max(0, parts.length - FREE_HEADS);
  return askedBytes + headBytes > lengthBytes ? { kind: "whole" } : { kind: "parts", parts };
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

/** Joins those that overlap or touch, at the place of the first of them. */
function mergedParts(asked: readonly BytePart[]): BytePart[] {
  const parts: { first: number; last: number; place: number }[] = [];
  const byPosition = asked.map((part, place) => ({ ...part, place })).sort((a, b) => a.first - b.first);
  for (const part of byPosition) {
    const before = parts.at(-1);
    if (before && part.first <= before.last + 1) {
      before.last = Math.max(before.last, part.last);
      before.place = Math.min(before.place, part.place);
    } else parts.push(part);
  }
  return parts.sort((a, b) => a.place - b.place).map(({ first, last }) => ({ first, last }));
}
