/**
 * The `Cache-Control` field as a typed value. RFC 9111 §5.2.
 *
 * Parsed once; no code after this looks at the text. Where a directive comes twice, the more restrictive one counts
 * (§4.2.1), and the qualified forms `private="…"` and `no-cache="…"` count as the unqualified ones, as §5.2.2.4 and
 * §5.2.2.7 permit. A field that cannot be read, like `private; max-age=60`, may have meant to forbid: it counts as
 * `no-store`.
 */
export interface CacheControl {
  readonly noStore: boolean;
  readonly noCache: boolean;
  readonly private: boolean;
  readonly public: boolean;
  readonly mustRevalidate: boolean;
  readonly maxAge: DeltaSeconds;
  readonly sMaxage: DeltaSeconds;
}

/** A number of seconds, `"absent"`, or `"invalid"` for a value that is no such number. RFC 9111 §1.2.2. */
export type DeltaSeconds = number | "absent" | "invalid";

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** RFC 9111 §1.2.2: a larger number is taken for this one. */
const LARGEST_DELTA_SECONDS = 2_147_483_648;

/** Parses the field's text, several lines joined with commas; `null` where the field is absent. Never throws. */
export function parseCacheControl(text: string | null): CacheControl {
  const directives = text === null ? [] : splitDirectives(text);
  const has = (name: string) => directives.some((directive) => directive.name === name);
  const isReadable = directives.every(({ name }) => TOKEN.test(name)) && hasClosedQuotes(text ?? "");
  return {
    noStore: has("no-store") || !isReadable,
    noCache: has("no-cache"),
    private: has("private"),
    public: has("public"),
    mustRevalidate: has("must-revalidate"),
    maxAge: deltaSeconds(directives, "max-age"),
    sMaxage: deltaSeconds(directives, "s-maxage"),
  };
}

interface Directive {
  readonly name: string;
  readonly value: string | undefined;
}

/** Splits at commas that stand outside quoted strings. RFC 9110 §5.6.1, §5.6.4. */
function splitDirectives(text: string): Directive[] {
  const members = text.match(/(?:"(?:[^"\\]|\\.)*"?|[^,"])+/g) ?? [];
  return members.filter((member) => member.trim() !== "").map(parseDirective);
}

function hasClosedQuotes(text: string): boolean {
  return !text.replace(/"(?:[^"\\]|\\.)*"/g, "").includes('"');
}

function parseDirective(member: string): Directive {
  const equals = member.indexOf("=");
  if (equals === -1) return { name: member.trim().toLowerCase(), value: undefined };
  const value = member.slice(equals + 1).trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value);
  return {
    name: member.slice(0, equals).trim().toLowerCase(),
    value: quoted ? quoted[1]!.replace(/\\(.)/g, "$1") : value,
  };
}

function deltaSeconds(directives: readonly Directive[], name: string): DeltaSeconds {
  let smallest: DeltaSeconds = "absent";
  for (const directive of directives) {
    if (directive.name !== name) continue;
    if (directive.value === undefined || !/^[0-9]+$/.test(directive.value)) return "invalid";
    const seconds = Math.min(Number(directive.value), LARGEST_DELTA_SECONDS);
    smallest = smallest === "absent" ? seconds : Math.min(smallest, seconds);
  }
  return smallest;
}
