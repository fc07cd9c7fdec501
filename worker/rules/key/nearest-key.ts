import { seenKindOf } from "./seen-key.ts";
import { withoutEscapes } from "./without-escapes.ts";

/** With fewer letters and digits, a slip cannot be told from another name; with more, slips are not looked for. */
const MIN_SLIP_LENGTH = 5;
const MAX_SLIP_LENGTH = 64;
/** From this length on, two letters in a row may be wrong. */
const MIN_LONG_LENGTH = 7;
/** A longer key has no nearest one: nobody has typed it, and a pattern of it could be too large for the runtime. */
const MAX_LENGTH = 512;

/** Whatever separates words, or nothing. */
const GAP = "[^a-z\\d%]*";

/**
 * The key among `known` that the writer of `asked` may have meant: one with other separators, capitals or escapes, since
 * browsers send `:` where `encodeURIComponent` writes `%3A`, and keys keep both apart; one in which a letter, or
 * two in a row, are others, missing or too many, but no digit, because `song:42` is not a slip for `song:43`; or one with
 * more before a separator in front. `undefined` if there is none. Only keys of the same kind are compared.
 */
export function nearestKey(asked: string, known: readonly string[]): string | undefined {
  const kind = seenKindOf(asked)!;
  const letters =
    withoutEscapes(asked)
      .slice(kind.length)
      .toLowerCase()
      .match(/[a-z\d%]/g) ?? [];
  if (letters.length === 0 || letters.length > MAX_LENGTH) return undefined;
  const whole = letters.join(GAP);
  const plain = known.map(withoutEscapes);
  for (const form of [whole, slipsOf(letters).join("|"), `.*[^a-z\\d%]${whole}`]) {
    const pattern = new RegExp(`^${kind}${GAP}(?:${form})${GAP}$`, "i");
    const at = form ? plain.findIndex((key) => pattern.test(key)) : -1;
    if (at !== -1) return known[at];
  }
  return undefined;
}

/** A pattern for each place where the key may have been written wrong: by one letter, or two in a row of a longer key. */
function slipsOf(letters: readonly string[]): string[] {
  if (letters.length < MIN_SLIP_LENGTH || letters.length > MAX_SLIP_LENGTH) return [];
  const wrong = letters.length < MIN_LONG_LENGTH ? 1 : 2;
  return letters.flatMap((_, at) =>
    /\d/.test(`${letters.slice(at, at + wrong)}`)
      ? []
      : letters.toSpliced(at, wrong, `[a-z]{0,${wrong + 1}}`).join(GAP),
  );
}
