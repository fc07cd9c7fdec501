/** Fewer letters and digits than this are too few to tell a slip of the pen from another name. */
const MIN_SLIP_LENGTH = 5;
/** From this length on, two characters in a row may differ. */
const MIN_LONG_LENGTH = 7;

/** How two keys resemble each other, the most alike first. */
const LIKENESSES = [isSpeltAlike, isSlipOf, lacksPrefix] as const;

/** A key with the parts of it that are compared. */
interface Compared {
  readonly key: string;
  /** Its letters and digits, in lower case. */
  readonly letters: string;
  readonly segments: readonly string[];
}

/**
 * The key among `known` that whoever wrote `asked` may have meant: one with other separators or other capitals; one that
 * differs by a character, or two in a row, but in no digit, because `song:42` is not a slip for `song:43`; or one with one
 * segment more or less in front. `undefined` if there is none. Keys are of one kind, as `purge-key.ts` writes them.
 */
export function nearestKey(asked: string, known: Iterable<string>): string | undefined {
  const wanted = compared(asked);
  let nearest: string | undefined;
  let rank: number = LIKENESSES.length;
  for (const key of known) {
    const other = compared(key);
    const found = LIKENESSES.findIndex((isAlike) => isAlike(wanted, other));
    if (found < 0 || found >= rank) continue;
    nearest = key;
    rank = found;
    if (rank === 0) break;
  }
  return nearest;
}

/** What comes before the first letter or digit is the key's kind: `#` or `path:/`. */
function compared(key: string): Compared {
  const segments =
    key
      .replace(/^path:/, "")
      .toLowerCase()
      .match(/[a-z0-9%]+/g) ?? [];
  return { key, letters: segments.join(""), segments };
}

function isSpeltAlike({ letters }: Compared, other: Compared): boolean {
  return letters !== "" && letters === other.letters;
}

function isSlipOf({ letters: one }: Compared, { letters: other }: Compared): boolean {
  const [shorter, longer] = one.length < other.length ? [one.length, other.length] : [other.length, one.length];
  if (longer < MIN_SLIP_LENGTH || longer - shorter > 2) return false;
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const between = (text: string) => text.slice(start, text.length - end);
  return longer - start - end <= (longer < MIN_LONG_LENGTH ? 1 : 2) && !/\d/.test(between(one) + between(other));
}

function lacksPrefix({ segments: one }: Compared, { segments: other }: Compared): boolean {
  const [few, many] = one.length < other.length ? [one, other] : [other, one];
  return few.length > 0 && few.length + 1 === many.length && few.every((segment, at) => segment === many[at + 1]);
}
