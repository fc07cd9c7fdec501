/** One member of a `Cache-Control` field, its name in lower case. RFC 9111 §5.2. */
export interface CacheDirective {
  readonly name: string;
  /** The argument without its quotes; `undefined` if there is none. */
  readonly value: string | undefined;
  /** True if the argument was quoted. */
  readonly isQuoted: boolean;
}

/** The kinds of text that a character may be part of. */
const SPACE = 1;
const NAME = 2;
const BARE_ARGUMENT = 4;

/**
 * The kinds for each character that a field can contain, which is a byte. Real arguments without quotes contain more
 * than a token may (RFC 9110 §5.6.2), but characters that might hide a directive are not accepted.
 */
const PARTS = Uint8Array.from({ length: 256 }, (_, code) => {
  const partIf = (pattern: RegExp, part: number) => (pattern.test(String.fromCharCode(code)) ? part : 0);
  return partIf(/\s/, SPACE) | partIf(/[!#$%&'*+.^_`|~\w-]/, NAME) | partIf(/[^\s;",]/, BARE_ARGUMENT);
});

/**
 * The directives of a field, in which several lines are joined with commas; `undefined` if it cannot be read, like
 * `private; max-age=60` or a string without an end, because it may have been meant to forbid storing. A regular
 * expression takes half as long again.
 */
export function readCacheDirectives(text: string): readonly CacheDirective[] | undefined {
  const directives: CacheDirective[] = [];
  let at = 0;
  while (at < text.length) {
    const nameAt = endOf(SPACE, text, at);
    const nameEnd = endOf(NAME, text, nameAt);
    const hasName = nameEnd > nameAt; // RFC 9110 §5.6.1.2: empty members are ignored
    const name = text.slice(nameAt, nameEnd).toLowerCase();
    at = endOf(SPACE, text, nameEnd);
    if (hasName && text[at] === "=") {
      const start = endOf(SPACE, text, at + 1);
      const isQuoted = text[start] === '"';
      const end = isQuoted ? endOfString(text, start) : endOf(BARE_ARGUMENT, text, start);
      const value = isQuoted ? unescaped(text.slice(start + 1, end - 1)) : text.slice(start, end);
      directives.push({ name, value, isQuoted });
      at = endOf(SPACE, text, end);
    } else if (hasName) {
      directives.push({ name, value: undefined, isQuoted: false });
    }
    if (at < text.length && text[at] !== ",") return undefined;
    at++;
  }
  return directives;
}

/** The position after the characters of this kind that begin at `start`. */
function endOf(part: number, text: string, start: number): number {
  let at = start;
  while (at < text.length && (PARTS[text.charCodeAt(at)]! & part) !== 0) at++;
  return at;
}

/** The position after the closing quote of a string; its start, if it has no end. RFC 9110 §5.6.4. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '"') return at + 1;
    if (text[at] === "\\") at++;
  }
  return start;
}

function unescaped(text: string): string {
  return text.includes("\\") ? text.replace(/\\(.)/g, "$1") : text;
}
