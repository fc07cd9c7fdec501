import { mayTakeExponentialTime } from "#tidemark/internal";
import { overEscapes, searched } from "./escapes.ts";
import { encoded, endOfGroup, sourceOf, type Token, tokenize } from "./tokens.ts";

/**
 * Regular expressions of nginx (PCRE) as patterns of routes (URLPattern pathname syntax). A pattern matches whole
 * paths, but nginx's expressions match anywhere, so `\.(jpg|png)$` becomes `/*.(jpg|png)`.
 */

export type Patterns =
  | { readonly kind: "patterns"; readonly patterns: readonly string[] }
  /** `construct` is the part that no pattern can express. */
  | { readonly kind: "unsupported"; readonly construct: string };

/** The construct of an expression that a worker must not match: nginx would give up, and answer 500. */
export const TOO_SLOW = "a loop that may take exponential time";

/** An expression of nginx. */
export interface Expression {
  readonly regex: string;
  readonly ignoreCase: boolean;
  /** Whether nginx searches for it in the path as it was sent, with its escapes. Default: in the decoded path. */
  readonly isSent?: boolean;
}

/** A URLPattern treats dots at the end of a text as a segment `.` or `..`, and removes it. */
const ENDS_WITH_DOTS = /\/(\.{1,2})$/;

/** The pattern of all paths that begin with a text. */
export function prefixPattern(prefix: string): string {
  const dots = ENDS_WITH_DOTS.exec(prefix)?.[1];
  if (dots === undefined) return `${literalPattern(prefix)}*`;
  return `${literalPattern(prefix.slice(0, -dots.length))}(${dots.replaceAll(".", "\\.")}.*)`;
}

/** The pattern of one path, with characters escaped as in URLs. */
export function literalPattern(text: string): string {
  return encoded(text).replace(/[{}()*+?:\\]/g, "\\$&");
}

/**
 * The patterns of all paths that begin with `prefix` and in which the expression has a match. A path matches if any of
 * the patterns does.
 */
export function regexPatterns(
  regex: string,
  { ignoreCase, prefix, isSent = false }: Omit<Expression, "regex"> & { readonly prefix: string | null },
): Patterns {
  const tokens = tokenize(regex, ignoreCase);
  if (typeof tokens === "string") return { kind: "unsupported", construct: tokens };
  const alternatives = readAlternatives(tokens, isSent);
  if (alternatives.some(isTooSlow)) return { kind: "unsupported", construct: TOO_SLOW };
  const patterns = alternatives.flatMap((alternative) => patternsOf(alternative, prefix, isSent));
  return { kind: "patterns", patterns: [...new Set(patterns)] };
}

/** The alternatives of an expression that is searched for. */
function readAlternatives(tokens: readonly Token[], isSent: boolean): (readonly Token[])[] {
  return alternativesOf(tokens).map((each) => {
    let wanted: readonly Token[] = each;
    // What may stand before a match is left out, or it would be tried again and again.
    while (isAnything(wanted)) wanted = wanted.slice(2);
    return isSent ? wanted : overEscapes(wanted);
  });
}

function isTooSlow(tokens: readonly Token[]): boolean {
  return mayTakeExponentialTime(sourceOf(tokens));
}

function patternsOf(alternative: readonly Token[], prefix: string | null, isSent: boolean): string[] {
  const isFromStart = alternative[0]?.kind === "start";
  const isToEnd = alternative.at(-1)?.kind === "end";
  const body = alternative.slice(isFromStart ? 1 : 0, isToEnd ? -1 : undefined);
  const behind = isFromStart && prefix !== null ? behindPrefix(body, prefix) : null;
  if (behind === "never") return [];
  const isPlain = !body.some(({ kind }) => kind === "start" || kind === "end");
  const general = [lookingPattern(looked([alternative], isSent), prefix ?? "/")];
  if (!isPlain) return general;
  if (isFromStart) {
    const leading = leadingLiterals(body);
    const text = leading.map(({ character }) => character).join("");
    const rest = restPattern(body.slice(leading.length), isToEnd);
    if (prefix !== null && !text.startsWith(prefix)) {
      if (!prefix.startsWith(text)) return [];
      if (behind !== null && !ENDS_WITH_DOTS.test(prefix))
        return [literalPattern(prefix) + restPattern(behind, isToEnd)];
      return rest === "*" ? [prefixPattern(prefix)] : general;
    }
    if (!text.startsWith("/") || ENDS_WITH_DOTS.test(text)) return general;
    return [literalPattern(text) + rest];
  }
  if (body.length === 0) return [prefixPattern(prefix ?? "/")];
  const leading = leadingLiterals(body);
  const text = leading.map(({ character }) => character).join("");
  if (text === "" || ENDS_WITH_DOTS.test(text) || beginsWithDigit(text)) return general;
  const rest = restPattern(body.slice(leading.length), isToEnd);
  if (text.startsWith("/")) {
    if (prefix !== null) return prefix.includes(text) && rest === "*" ? [prefixPattern(prefix)] : general;
    return [literalPattern(text) + rest, `/*${literalPattern(text)}${rest}`];
  }
  // A match that begins within the prefix ends there or contains a slash.
  const maySpan = !isToEnd || body.some(({ source }) => source === "." || /\/|\[\^|\\[DWS]/.test(source));
  if (prefix !== null && (maySpan || !prefix.endsWith("/"))) return general;
  return [`${literalPattern(prefix ?? "/")}*${literalPattern(text)}${rest}`];
}

/**
 * The patterns of all paths that begin with `prefix` and in which both expressions have a match. Unlike a pattern of
 * only one expression, they do not include paths of other locations.
 */
export function bothPatterns(both: readonly [Expression, Expression], prefix: string | null): Patterns {
  const looks: string[] = [];
  for (const { regex, ignoreCase, isSent = false } of both) {
    const tokens = tokenize(regex, ignoreCase);
    if (typeof tokens === "string") return { kind: "unsupported", construct: tokens };
    const alternatives = readAlternatives(tokens, isSent);
    if (alternatives.some(isTooSlow)) return { kind: "unsupported", construct: TOO_SLOW };
    looks.push(looked(alternatives, isSent));
  }
  return { kind: "patterns", patterns: [lookingPattern(looks.join(""), prefix ?? "/")] };
}

/** A lookahead from the start of the path that finds a match anywhere, and so can express everything that one can. */
function looked(alternatives: readonly (readonly Token[])[], isSent: boolean): string {
  const sources = alternatives.map((each) => (isSent ? sourceOf(each) : searched(each)));
  return `(?=.*?(?:${sources.join("|")}))`;
}

function lookingPattern(looks: string, prefix: string): string {
  const before = encoded(prefix).replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
  return `${literalPattern(prefix)}((?<=^${looks}${before}).*)`;
}

/**
 * What an expression from the path's start asks of a path behind its prefix. `never`: it matches none with that prefix;
 * `null`: only a search can tell.
 */
function behindPrefix(body: readonly Token[], prefix: string): readonly Token[] | "never" | null {
  for (const [at, wanted] of [...prefix].entries()) {
    const { kind, source, character } = body[at] ?? END;
    const isOne = (kind === "literal" || source.startsWith("[")) && body[at + 1]?.kind !== "quantifier";
    // Other characters may be escapes in paths.
    if (!isOne || !/[\w/.-]/.test(wanted)) return null;
    if (kind === "literal" ? character !== wanted : !new RegExp(source, "v").test(wanted)) return "never";
  }
  return body.slice(prefix.length);
}

const END: Token = { kind: "end", source: "$" };

/** Whether a text may be found within an escape. */
function beginsWithDigit(text: string): boolean {
  return /^[\dA-F]/.test(text);
}

function restPattern(rest: readonly Token[], isToEnd: boolean): string {
  if (rest.length === 0) return isToEnd ? "" : "*";
  const source = sourceOf(rest);
  if (/^(?:\.\*\??|\(\?:\.\*\??\))$/.test(source)) return "*";
  if (!isToEnd) return `((?:${source}).*)`;
  const inner = /^\(\?:([^()]+)\)$/.exec(source)?.[1];
  if (inner !== undefined) return `(${inner})`;
  return source.startsWith("?") ? `((?:${source}))` : `(${source})`;
}

function isAnything([first, second]: readonly Token[]): boolean {
  return first?.source === "." && first.kind === "other" && (second?.source === "*" || second?.source === "*?");
}

/** The literals at the beginning, without one that a quantifier follows. */
function leadingLiterals(tokens: readonly Token[]): readonly Token[] {
  let end = 0;
  while (tokens[end]?.kind === "literal") end++;
  if (tokens[end]?.kind === "quantifier") end--;
  return tokens.slice(0, Math.max(0, end));
}

function alternativesOf(tokens: readonly Token[]): Token[][] {
  const alternatives: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === "open") depth++;
    if (token.kind === "close") depth--;
    if (token.kind === "or" && depth === 0) alternatives.push([]);
    else alternatives.at(-1)!.push(token);
  }
  // `(a|b)` around the whole is the same as `a|b`.
  if (alternatives.length === 1) {
    const [only] = alternatives as [Token[]];
    if (only[0]?.source === "(?:" && endOfGroup(only, 0) === only.length - 1) return alternativesOf(only.slice(1, -1));
  }
  return alternatives;
}
