/** The known content codings, one bit each. All others are treated as one coding that no client accepts. */
const BR = 1;
const GZIP = 2;
const ZSTD = 4;
const ALL = BR | GZIP | ZSTD;

/** The codings that are distinguished. */
export const CODINGS = ["br", "gzip", "zstd"] as const;
export type Coding = (typeof CODINGS)[number];

/** The canonical text of each set of codings, indexed by its bits. */
const TEXTS = ["identity", "br", "gzip", "br, gzip", "zstd", "br, zstd", "gzip, zstd", "br, gzip, zstd"] as const;

/** The set of all known codings. A client that is served from the store accepts no other. */
export const ALL_CODINGS: string = TEXTS[ALL]!;

/**
 * The content codings that a client accepts, as one text for each set: sorted, or `identity` for none. RFC 9110
 * §12.5.3.
 *
 * Preferences among accepted codings are dropped, so that clients that differ only in these share a variant. A client
 * that does not send the field gets no coding, because it may not know any. A coding that is named twice is accepted
 * only if no mention refuses it. Malformed members are ignored.
 */
export function acceptedCodings(field: string | null): string {
  if (field === null) return TEXTS[0];
  let accepted = 0;
  let refused = 0;
  let others = 0;
  for (const member of field.split(",")) {
    const semicolon = member.indexOf(";");
    const name = (semicolon === -1 ? member : member.slice(0, semicolon)).trim().toLowerCase();
    const coding = name === "*" ? ALL : codingBit(name);
    if (coding === 0) continue;
    const weight = semicolon === -1 ? "some" : weightOf(member.slice(semicolon + 1));
    if (weight === "malformed") continue;
    if (name === "*") others = weight === "some" ? ALL : 0;
    else if (weight === "some") accepted |= coding;
    else refused |= coding;
  }
  return TEXTS[(accepted | others) & ~refused]!;
}

/**
 * Whether a client that accepts these codings can decode content in this one. `accepted` is the result of
 * `acceptedCodings`. Content without a coding is for everybody, even if `identity` was refused: it needs no decoder.
 */
export function acceptsCoding(accepted: string, contentEncoding: string): boolean {
  const known = bitsOf(accepted);
  return contentEncoding.split(",").every((member) => {
    const name = member.trim().toLowerCase();
    return name === "" || name === "identity" || (codingBit(name) & known) !== 0;
  });
}

/**
 * Whether an answer to a request that offered the codings `stored` is also the answer to one that offers `asked`. It is
 * if `stored` includes all of `asked`: from a smaller offer that still contains its choice, which `acceptsCoding`
 * checks, the origin would have chosen the same. A coding of `passedOver` does
 * not count, because the origin would not choose it where it can choose the stored one. All are results of
 * `acceptedCodings`.
 */
export function coversCodings(stored: string, asked: string, passedOver: string): boolean {
  return (bitsOf(asked) & ~bitsOf(stored) & ~bitsOf(passedOver)) === 0;
}

/** Whether a set, as `acceptedCodings` writes it, has this coding in it. */
export function includesCoding(set: string, coding: Coding): boolean {
  return (bitsOf(set) & codingBit(coding)) !== 0;
}

/** The text of a set of codings, as `acceptedCodings` writes it. */
export function codingsText(codings: readonly Coding[]): string {
  return TEXTS[codings.reduce((bits, coding) => bits | codingBit(coding), 0)]!;
}

/** The one coding of content, if it has exactly one and that is known; else `null`. */
export function onlyCoding(contentEncoding: string | null): Coding | null {
  if (contentEncoding === null) return null;
  const bit = codingBit(contentEncoding.trim().toLowerCase());
  return CODINGS.find((coding) => codingBit(coding) === bit) ?? null;
}

function codingBit(name: string): number {
  switch (name) {
    case "gzip":
    case "x-gzip": // RFC 9110 §8.4.1.3: the same coding
      return GZIP;
    case "br":
      return BR;
    case "zstd":
      return ZSTD;
    default:
      return 0;
  }
}

function bitsOf(canonical: string): number {
  return Math.max(0, (TEXTS as readonly string[]).indexOf(canonical));
}

/** The meaning of the text after the first semicolon. RFC 9110 §12.4.2. */
function weightOf(parameter: string): "none" | "some" | "malformed" {
  const text = parameter.trim();
  if (!/^q=(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/i.test(text)) return "malformed";
  return /^q=0(?:\.0*)?$/i.test(text) ? "none" : "some";
}
