import type { ShadowedRoute } from "../../wire/site-review.ts";

/**
 * The routes that certainly never match. Patterns with regular expressions, modifiers, escapes or groups other than a
 * final `{/*}?` are only compared as text, so a route may be shadowed without being found here, but none is found that
 * could match.
 */
export function shadowedRoutes(routes: readonly { readonly match: string }[]): readonly ShadowedRoute[] {
  const wide: ShadowedRoute["by"][] = [];
  const firsts = new Map<string, ShadowedRoute["by"]>();
  return routes.flatMap(({ match }, index) => {
    // Thousands of routes are seldom wide, and others cover only what is written alike.
    const by = firsts.get(match) ?? wide.find((earlier) => covers(earlier.match, match));
    const here = { match, index };
    firsts.set(match, by ?? here);
    if (WIDE.test(match)) wide.push(here);
    return by ? [{ ...here, by }] : [];
  });
}

/** Syntax of patterns that may cover others. */
const WIDE = /^[^{}()\\+?]*[:*][^{}()\\+?]*$|\{\/\*\}\?$/;

/** Syntax that only patterns with more than literals, `:name` and `*` contain. */
const ELABORATE = /[{}()\\+?]|\*.|:\w+[^/\w]/s;

/** A pattern that also matches everything below the path before it. */
const AND_BELOW = /^(.*)\{\/\*\}\?$/s;

/** Segments that URLs resolve, also where they end at a parameter, a star, a group or an escape, or stand inside these. */
const DOTS = /\/(?:[{}\\]*(?:\.|%2e)){1,2}(?:[/{}()\\+?*:]|$)/i;

/** Whether a pattern surely matches every path that another one matches. */
function covers(earlier: string, later: string): boolean {
  if (earlier === later || earlier === "/*") return true;
  if (DOTS.test(later)) return false;
  const [, path] = AND_BELOW.exec(earlier) ?? [];
  if (path !== undefined) return covers(path, later) || covers(`${path}/*`, later);
  if (ELABORATE.test(earlier)) return false;
  if (ELABORATE.test(later)) return coversElaborate(earlier, later);
  const general = earlier.split("/");
  const special = later.split("/");
  for (const [index, segment] of general.entries()) {
    const other = special[index];
    // A star takes the rest of the path, slashes too, but not the slash before it.
    if (segment === "*") return other !== undefined;
    if (other === undefined || other.includes("*")) return false;
    const isCovered = isParameter(segment) ? isParameter(other) || isOneLiteral(other) : segment === other;
    if (!isCovered) return false;
  }
  return general.length === special.length;
}

/** `/shop/*` covers whatever begins with the same literal characters. */
function coversElaborate(earlier: string, later: string): boolean {
  if (!/^[^:*]*\/\*$/.test(earlier)) return false;
  const prefix = earlier.slice(0, -1);
  // A slash before a parameter or a star belongs to that group, and is as optional as the group is.
  const literal = /^[^{}()\\+?*:]*/.exec(later)![0];
  const certain = /^[:*(]/.test(later.slice(literal.length)) ? literal.replace(/\/$/, "") : literal;
  return certain.startsWith(prefix);
}

function isParameter(segment: string): boolean {
  return /^:\w+$/.test(segment);
}

function isOneLiteral(segment: string): boolean {
  return segment !== "" && !/[:*]/.test(segment);
}
