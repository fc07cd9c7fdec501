import { seenKeyText, seenKindOf } from "./seen-key.ts";

/** With fewer letters and digits, a slip cannot be told from another name. */
const MIN_SLIP_LENGTH = 5;
/** From this length on, two characters in a row may differ. */
const MIN_LONG_LENGTH = 7;

/** The text of a key in lower case, and the letters and digits in it. */
type Compared = readonly [text: string, letters: string];

/** How two keys resemble each other, the most alike first. */
const LIKENESSES: readonly ((one: Compared, other: Compared) => boolean)[] = [
  ([, one], [, other]) => one === other && one !== "",
  ([, one], [, other]) => isSlip(one, other),
  ([one], [other]) => lacksPrefix(one, other) || lacksPrefix(other, one),
];

/**
 * The key among `known` that whoever wrote `asked` may have meant: one with other separators or other capitals; one that
 * differs by a character, or two in a row, but in no digit, because `song:42` is not a slip for `song:43`; or one with more or
 * less before a separator in front. `undefined` if there is none. Only keys of the same kind are compared.
 */
export function nearestKey(asked: string, known: Iterable<string>): string | undefined {
  const wanted = compared(asked);
  let nearest: string | undefined;
  let rank = LIKENESSES.length;
  for (const key of known) {
    if (seenKindOf(key) !== seenKindOf(asked)) continue;
    const other = compared(key);
    const found = LIKENESSES.slice(0, rank).findIndex((isAlike) => isAlike(wanted, other));
    if (found >= 0) [nearest, rank] = [key, found];
  }
  return nearest;
}

function compared(key: string): Compared {
  const text = seenKeyText(key).toLowerCase();
  return [text, text.replace(/[^a-z\d%]/g, "")];
}

function isSlip(one: string, other: string): boolean {
  if (one.length > other.length) return isSlip(other, one);
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  while (end < one.length - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const differ = other.length - start - end;
  const between = [one, other].map((text) => text.slice(start, text.length - end));
  return (
    other.length >= MIN_SLIP_LENGTH &&
    differ <= (other.length < MIN_LONG_LENGTH ? 1 : 2) &&
    !/\d/.test(between.join(""))
  );
}

function lacksPrefix(text: string, whole: string): boolean {
  return text.length > 1 && whole.endsWith(text) && /[^a-z\d%]\/?$/.test(whole.slice(0, -text.length));
}
