import { DICTIONARY_CODINGS, type DictionaryCoding } from "../deltas/available-dictionary.ts";
import { type Coding, onlyCoding } from "./accept-encoding.ts";

/**
 * The codings that a client prefers to none, the most preferred first, and equally preferred ones in the order of
 * `offered`. RFC 9110 §12.5.3. A coding counts if its weight is neither 0 nor below that of `identity`. A client that
 * does not send the field gets no coding, because it may not know any. If a coding is named twice, its lowest weight
 * counts, and malformed members are ignored, as in `acceptedCodings`.
 */
export function wantedCodings(field: string | null, offered: readonly Coding[]): readonly Coding[] {
  const weights = readWeights(field ?? "");
  const identity = weights.get("identity") ?? 0;
  const weightOf = (coding: Coding) => weights.get(coding) ?? weights.get("*") ?? 0;
  return offered
    .filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= identity)
    .toSorted((one, other) => weightOf(other) - weightOf(one));
}

/**
 * The codings with a dictionary that a client wants at least as much as any other, in the order of `offered`. It has to
 * name them: `*` may come from a client that knows none. RFC 9842 §6.1.
 */
export function wantedDictionaryCodings(
  field: string | null,
  offered: readonly DictionaryCoding[],
): readonly DictionaryCoding[] {
  const weights = readWeights(field ?? "");
  const most = Math.max(0, ...weights.values());
  return offered.filter((coding) => most > 0 && weights.get(coding) === most);
}

type Named = Coding | DictionaryCoding | "identity" | "*";

/** The weight of each coding that is named, of those that are known. RFC 9110 §12.4.2. */
function readWeights(field: string): ReadonlyMap<Named, number> {
  const weights = new Map<Named, number>();
  for (const member of field.split(",")) {
    const [, name, weight] = MEMBER.exec(member) ?? [];
    const known = name === undefined ? null : knownName(name.toLowerCase());
    if (known !== null) weights.set(known, Math.min(weights.get(known) ?? 1, Number(weight ?? 1)));
  }
  return weights;
}

/** A name and its weight, which has up to three digits. */
const MEMBER = /^\s*([^\s;]+)\s*(?:;\s*q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)\s*)?$/i;

function knownName(name: string): Named | null {
  if (name === "identity" || name === "*") return name;
  return DICTIONARY_CODINGS.find((coding) => coding === name) ?? onlyCoding(name);
}
