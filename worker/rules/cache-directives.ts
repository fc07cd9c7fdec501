/** One member of a `Cache-Control` field, its name in lower case. RFC 9111 §5.2. */
export interface CacheDirective {
  readonly name: string;
  /** The argument without its quotes; `undefined` where there is none. */
  readonly value: string | undefined;
  /** True if the argument stood in quotes. */
  readonly isQuoted: boolean;
}

/**
 * The directives of a field, several lines joined with commas; `undefined` for one that cannot be read, like
 * `private; max-age=60` or a string that never ends: it may have meant to forbid.
 */
export function readCacheDirectives(text: string): readonly CacheDirective[] | undefined {
  const members = text.includes('"') ? splitOutsideQuotes(text) : text.split(",");
  if (members === undefined) return undefined;
  const directives: CacheDirective[] = [];
  for (const member of members) {
    const trimmed = member.trim();
    if (trimmed === "") continue; // RFC 9110 §5.6.1.2: empty members are passed over
    const directive = readDirective(trimmed);
    if (directive === undefined) return undefined;
    directives.push(directive);
  }
  return directives;
}

/** RFC 9110 §5.6.2, after lowering. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** An argument without quotes. Real ones hold more than a token does; what might hide a directive is not read. */
const BARE_VALUE = /^[^\s;"]*$/;

/** RFC 9110 §5.6.4. */
const QUOTED_VALUE = /^"((?:[^"\\]|\\.)*)"$/;

/** Whether this is a token in lower case, as names of fields and directives are here. */
export function isLowerCaseToken(text: string): boolean {
  return TOKEN.test(text);
}

function readDirective(member: string): CacheDirective | undefined {
  const equals = member.indexOf("=");
  const name = (equals === -1 ? member : member.slice(0, equals).trimEnd()).toLowerCase();
  if (!TOKEN.test(name)) return undefined;
  if (equals === -1) return { name, value: undefined, isQuoted: false };
  const argument = member.slice(equals + 1).trimStart();
  if (BARE_VALUE.test(argument)) return { name, value: argument, isQuoted: false };
  const quoted = QUOTED_VALUE.exec(argument);
  return quoted ? { name, value: quoted[1]!.replace(/\\(.)/g, "$1"), isQuoted: true } : undefined;
}

/** Splits at commas that stand outside quoted strings; `undefined` if a string never ends. */
function splitOutsideQuotes(text: string): readonly string[] | undefined {
  if (text.replace(/"(?:[^"\\]|\\.)*"/g, "").includes('"')) return undefined;
  return text.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [];
}
