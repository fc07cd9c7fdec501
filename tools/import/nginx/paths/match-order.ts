import { alternatives } from "../conditions/query-tail.ts";
import { isRegex, type Location } from "../locations.ts";
import { literalPattern, prefixPattern, regexPatterns } from "./path-patterns.ts";

/** The paths that nginx serves from a location, unless an earlier match has them. */
export interface OrderedMatch {
  readonly location: Location;
  /** The prefix of these paths, for an expression within one; `null` for any. */
  readonly prefix: string | null;
  readonly patterns: readonly string[];
  /** The part of the expression that no pattern can express. The patterns then match more than the expression. */
  readonly unsupported: string | null;
}

/**
 * The locations as a list in which the first match applies, like routes. nginx uses an exact match; else it searches
 * for the longest prefix, and within it again; then it tries the expressions in order, innermost first, unless that
 * prefix forbids it; and only then it uses the prefix: nginx.org/en/docs/http/ngx_http_core_module.html#location.
 */
export function inMatchOrder(locations: readonly Location[]): readonly OrderedMatch[] {
  return ordered(locations, null, []);
}

/** The locations in `within`, or of the server for `null`. `later`: the expressions that are tried after its own. */
function ordered(all: readonly Location[], within: Location | null, later: readonly Location[]): OrderedMatch[] {
  const here = all.filter(({ parent }) => parent === within);
  const asked = [...here.filter(isRegex), ...later];
  const prefixes = here
    .filter(({ kind }) => kind === "prefix" || kind === "prefix-before-regex")
    .toSorted((a, b) => b.text.length - a.text.length);
  const outer = new Set(all.map(({ parent }) => parent));
  const ordering = prefixes.filter((each) => each.kind !== "prefix" || outer.has(each));
  // If no shorter prefix has its own order, the expressions of all prefixes can be tried together.
  const isEarly = (each: Location) => ordering.some((other) => each.text.startsWith(other.text));
  return [
    ...here.filter(({ kind }) => kind === "exact").map((each) => matchOf(each, null)),
    ...prefixes
      .filter(isEarly)
      .flatMap((each) => [
        ...ordered(all, each, each.kind === "prefix-before-regex" ? later : asked),
        matchOf(each, null),
      ]),
    ...asked.map((each) => matchOf(each, within?.text ?? null)),
    ...prefixes.filter((each) => !isEarly(each)).map((each) => matchOf(each, null)),
  ];
}

function matchOf(location: Location, prefix: string | null): OrderedMatch {
  const { kind, text } = location;
  if (kind === "exact") return { location, prefix, patterns: [literalPattern(text)], unsupported: null };
  if (!isRegex(location)) return { location, prefix, patterns: [prefixPattern(text)], unsupported: null };
  const found = regexPatterns(text, { ignoreCase: kind === "regex-ignoring-case", prefix });
  if (found.kind === "patterns") return { location, prefix, patterns: found.patterns, unsupported: null };
  const isOne = alternatives(text).length === 1;
  const sure = kind === "regex" && isOne ? /^\^(\/[\w/-]*)(?![\w/-]*[*?{|+])/.exec(text)?.[1] : undefined;
  return { location, prefix, patterns: [prefixPattern(sure ?? prefix ?? "/")], unsupported: found.construct };
}
