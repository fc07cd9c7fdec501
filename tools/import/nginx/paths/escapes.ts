import { sourceOf, type Token } from "./tokens.ts";

/*
 * nginx compares the bytes of decoded paths; routes see those outside ASCII as escapes like `%C3`. So what matches any
 * byte is written to match an escape as a whole, and no match begins or ends within one.
 */

/** The digits of escapes, as URLs have them. */
const DIGITS = "0123456789ABCDEF";

/** Where an escape does not continue. */
const NOT_WITHIN = "(?<!%.?)";

/** An expression, without its alternatives, as one over paths with escapes. */
export function overEscapes(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token, at) => {
    const isLong = /^[*+]/.test(quantifierAt(tokens, at));
    const isSure = isLong && matchesAll(token, `%${DIGITS}`) && endsOutside(tokens, at + 2);
    return isWild(token) && !isSure ? { ...token, source: wholeEscapeOr(token.source) } : token;
  });
}

/** The source of an expression that is searched for, so that no match begins within an escape. */
export function searched(tokens: readonly Token[]): string {
  const source = sourceOf(tokens);
  return tokens.length === 0 || tokens[0]!.kind === "start" || beginsOutside(tokens, 0) ? source : NOT_WITHIN + source;
}

/**
 * Whether an expression may still match escapes differently from the bytes that nginx compares: `\b` sees a letter at the
 * end of `%C3`. False for nearly all.
 */
export function seesEscapes(tokens: readonly Token[]): boolean {
  return tokens.some((token, at) => {
    if (token.kind === "open") return token.source.startsWith("(?<");
    // nginx repeats the last byte of a character.
    if (token.kind === "literal") return /%.*%/.test(token.source) && quantifierAt(tokens, at) !== "";
    if (token.kind !== "other" || isWild(token)) return false;
    return /^\\b$/i.test(token.source) || matchesAny(token, "%");
  });
}

/** A token that matches the bytes outside of ASCII. */
function isWild(token: Token): boolean {
  return token.kind === "other" && matchesAny(token, "é") && !/^\[(?!\^)/.test(token.source);
}

function wholeEscapeOr(source: string): string {
  const others =
    source === "." ? "" : source.replace(/^\[\^(.*)\]$/s, "$1").replace(/^\\[DWS]$/, (each) => each.toLowerCase());
  return `(?:%..|[^${others.includes("%") ? "" : "%"}${others}])`;
}

/** Whether what is matched before a place ends outside of escapes, because no digit can follow. */
function endsOutside(tokens: readonly Token[], start: number): boolean {
  let at = start;
  while (tokens[at]?.kind === "close" && quantifierAt(tokens, at) === "") at++;
  return tokens[at] === undefined || tokens[at]!.kind === "end" || beginsOutside(tokens, at);
}

function beginsOutside(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]!;
  if (/^(?:[*?]|\{0)/.test(quantifierAt(tokens, at))) return false;
  return token.kind === "literal" || token.kind === "other" ? !matchesAny(token, DIGITS) : false;
}

function quantifierAt(tokens: readonly Token[], at: number): string {
  return tokens[at + 1]?.kind === "quantifier" ? tokens[at + 1]!.source : "";
}

function matchesAny({ source }: Token, characters: string): boolean {
  const regex = new RegExp(`^(?:${source})`);
  return [...characters].some((each) => regex.test(each));
}

function matchesAll(token: Token, characters: string): boolean {
  return token.kind === "other" && [...characters].every((each) => matchesAny(token, each));
}
