import { seenKindOf } from "./seen-key.ts";
import { withoutEscapes } from "./without-escapes.ts";

/** With fewer letters and digits, a slip cannot be told from another name; with more, slips are not looked for. */
const MIN_SLIP_LENGTH = 5;
const MAX_SLIP_LENGTH = 64;
/** From this length on, two letters in a row may be wrong. */
const MIN_LONG_LENGTH = 7;

/**
 * The key among `known` that the writer of `asked` may have meant: one with other separators, capitals or escapes, since
 * browsers send `:` where `encodeURIComponent` writes `%3A`, and keys keep both apart; one in which a letter, or
 * two in a row, are others, missing or too many, but no digit, because `song:42` is not a slip for `song:43`; or one with
 * more before a separator in front. `undefined` if there is none. Only keys of the same kind are compared.
 */
export function nearestKey(asked: string, known: readonly string[]): string | undefined {
  const kind = seenKindOf(asked)!;
  const wordsOf = (key: string) =>
    withoutEscapes(key)
      .slice(kind.length)
      .toLowerCase()
      .split(/[^a-z\d%]+/);
  const letters = wordsOf(asked).join("");
  if (letters === "") return undefined;
  const slips = slipsOf(letters);
  const keys = known
    .filter((key) => key.startsWith(kind))
    .map((key) => {
      const words = wordsOf(key);
      return { key, words, theirs: words.join("") };
    });
  const near =
    keys.find(({ theirs }) => theirs === letters) ??
    keys.find(({ theirs }) => slips?.test(theirs)) ??
    keys.find(({ theirs, words }) => theirs.endsWith(letters) && startsWord(theirs.length - letters.length, words));
  return near?.key;
}

/** Whether one of the words begins after so many letters. */
function startsWord(at: number, words: readonly string[]): boolean {
  let before = 0;
  for (const { length } of words) {
    if (before === at) return true;
    before += length;
  }
  return false;
}

/** The key with one letter written wrong, or two in a row of a longer key. */
function slipsOf(letters: string): RegExp | undefined {
  const { length } = letters;
  if (length < MIN_SLIP_LENGTH || length > MAX_SLIP_LENGTH) return undefined;
  const wrong = length < MIN_LONG_LENGTH ? 1 : 2;
  const slips = Array.from(letters, (_, at) =>
    /\d/.test(letters.slice(at, at + wrong))
      ? letters
      : `${letters.slice(0, at)}[a-z]{0,${wrong + 1}}${letters.slice(at + wrong)}`,
  );
  return new RegExp(`^(?:${slips.join("|")})$`);
}
