/** One member of a `Cache-Control` field, its name in lower case. RFC 9111 §5.2. */
export interface CacheDirective {
  readonly name: string;
  /** The argument without its quotes; `undefined` where there is none. */
  readonly value: string | undefined;
  /** True if the argument stood in quotes. */
  readonly isQuoted: boolean;
}

/**
 * A member up to its comma, perhaps an empty one (RFC 9110 §5.6.1.2): a token, and an argument in quotes (§5.6.4) or
 * without. Each kind of argument brings its own white space, so that a long run of it is not tried in two ways. Real
 * arguments without quotes hold more than a token does, but what might hide a directive is not read.
 */
const MEMBER = /\s*(?:([!#$%&'*+.^_`|~\w-]+)(?:\s*=(?:\s*"((?:[^"\\]|\\.)*)"|\s*([^\s;",]+)|()))?\s*)?(?:,|$)/y;

/**
 * The directives of a field, several lines joined with commas; `undefined` for one that cannot be read, like
 * `private; max-age=60` or a string that never ends: it may have meant to forbid.
 */
export function readCacheDirectives(text: string): readonly CacheDirective[] | undefined {
  const directives: CacheDirective[] = [];
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < text.length) {
    const member = MEMBER.exec(text);
    if (member === null) return undefined;
    const [, name, quoted, bare, empty] = member;
    if (name === undefined) continue;
    const isQuoted = quoted !== undefined;
    const value = quoted?.includes("\\") ? quoted.replace(/\\(.)/g, "$1") : (quoted ?? bare ?? empty);
    directives.push({ name: name.toLowerCase(), value, isQuoted });
  }
  return directives;
}

/** Whether this is a token in lower case, as names of fields and directives are here. RFC 9110 §5.6.2. */
export function isLowerCaseToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(text);
}
