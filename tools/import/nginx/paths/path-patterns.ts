import { mayTakeExponentialTime } from "#tidemark/internal";

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
}

/** The POSIX classes as ranges of ASCII, because nginx compares bytes. */
const POSIX: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  digit: "0-9",
  lower: "a-z",
  upper: "A-Z",
  xdigit: "A-Fa-f0-9",
};

export interface Token {
  readonly kind: "literal" | "other" | "quantifier" | "open" | "close" | "or" | "start" | "end";
  /** In the syntax of JavaScript with the flag `v`. */
  readonly source: string;
  /** The character of a literal. */
  readonly character?: string;
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
  { ignoreCase, prefix }: { ignoreCase: boolean; prefix: string | null },
): Patterns {
  const tokens = tokenize(regex, ignoreCase);
  if (typeof tokens === "string") return { kind: "unsupported", construct: tokens };
  if (isTooSlow(tokens)) return { kind: "unsupported", construct: TOO_SLOW };
  const patterns = alternativesOf(tokens).flatMap((alternative) => patternsOf(alternative, prefix));
  return { kind: "patterns", patterns: [...new Set(patterns)] };
}

function isTooSlow(tokens: readonly Token[]): boolean {
  return mayTakeExponentialTime(tokens.map(({ source }) => source).join(""));
}

function patternsOf(alternative: readonly Token[], prefix: string | null): string[] {
  const isFromStart = alternative[0]?.kind === "start";
  const isToEnd = alternative.at(-1)?.kind === "end";
  let body = alternative.slice(isFromStart ? 1 : 0, isToEnd ? -1 : undefined);
  const isPlain = !body.some(({ kind }) => kind === "start" || kind === "end");
  const general = [generalPattern(alternative, prefix ?? "/")];
  if (!isPlain) return general;
  if (isFromStart) {
    const leading = leadingLiterals(body);
    const text = leading.map(({ character }) => character).join("");
    const rest = restPattern(body.slice(leading.length), isToEnd);
    if (prefix !== null && !text.startsWith(prefix)) {
      if (!prefix.startsWith(text)) return [];
      return rest === "*" ? [prefixPattern(prefix)] : general;
    }
    if (!text.startsWith("/") || ENDS_WITH_DOTS.test(text)) return general;
    return [literalPattern(text) + rest];
  }
  while (isAnything(body)) body = body.slice(2);
  if (body.length === 0) return [prefixPattern(prefix ?? "/")];
  const leading = leadingLiterals(body);
  const text = leading.map(({ character }) => character).join("");
  if (text === "" || ENDS_WITH_DOTS.test(text)) return general;
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
export function bothPatterns([first, second]: readonly [Expression, Expression], prefix: string | null): Patterns {
  const tokens = [first, second].map(({ regex, ignoreCase }) => tokenize(regex, ignoreCase));
  const construct = tokens.find((each) => typeof each === "string");
  if (construct !== undefined) return { kind: "unsupported", construct: construct as string };
  if ((tokens as Token[][]).some(isTooSlow)) return { kind: "unsupported", construct: TOO_SLOW };
  const looks = (tokens as Token[][]).map((each) => looked(each));
  return { kind: "patterns", patterns: [lookingPattern(looks.join(""), prefix ?? "/")] };
}

/** Searches for the expression from the start of the path, and so can express everything that one can. */
function generalPattern(alternative: readonly Token[], prefix: string): string {
  return lookingPattern(looked(alternative), prefix);
}

/** A lookahead that finds a match anywhere; so what may stand before it is left out, which would be tried again and again. */
function looked(tokens: readonly Token[]): string {
  let wanted = tokens;
  while (isAnything(wanted)) wanted = wanted.slice(2);
  return `(?=.*?(?:${wanted.map(({ source }) => source).join("")}))`;
}

function lookingPattern(looks: string, prefix: string): string {
  const before = encoded(prefix).replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
  return `${literalPattern(prefix)}((?<=^${looks}${before}).*)`;
}

function restPattern(rest: readonly Token[], isToEnd: boolean): string {
  if (rest.length === 0) return isToEnd ? "" : "*";
  const source = rest.map((token) => token.source).join("");
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
    const isWrapped = only[0]?.source === "(?:" && only.at(-1)?.kind === "close" && closes(only, only.length - 1);
    if (isWrapped) return alternativesOf(only.slice(1, -1));
  }
  return alternatives;
}

/** Whether the group that the first token opens is closed by the token at `end` and not before. */
function closes(tokens: readonly Token[], end: number): boolean {
  let depth = 0;
  for (const [index, { kind }] of tokens.entries()) {
    if (kind === "open") depth++;
    if (kind === "close" && --depth === 0) return index === end;
  }
  return false;
}

/** The tokens of an expression, or a construct that JavaScript does not have or that cannot match paths. */
export function tokenize(regex: string, ignoreCase: boolean): Token[] | string {
  if (regex.startsWith("(?i)")) return tokenize(regex.slice("(?i)".length), true);
  const tokens: Token[] = [];
  const literal = (character: string) => {
    const swapped = character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase();
    const escaped = encoded(character).replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
    if (ignoreCase && /[a-z]/i.test(character)) tokens.push({ kind: "other", source: `[${character}${swapped}]` });
    else if (escaped.length > 2) tokens.push({ kind: "literal", source: `(?:${escaped})`, character });
    else tokens.push({ kind: "literal", source: escaped, character });
  };
  for (let at = 0; at < regex.length; ) {
    const rest = regex.slice(at);
    const character = String.fromCodePoint(rest.codePointAt(0)!);
    const found = (pattern: RegExp) => pattern.exec(rest)?.[0];
    const quantifier = found(/^(?:[*+?]|\{\d+(?:,\d*)?\})/);
    if (quantifier !== undefined) {
      const next = regex[at + quantifier.length];
      if (next === "+") return `the possessive ${quantifier}+`;
      const lazy = next === "?" ? "?" : "";
      tokens.push({ kind: "quantifier", source: quantifier + lazy });
      at += quantifier.length + lazy.length;
    } else if (character === "\\") {
      const letter = regex[at + 1] ?? "";
      if (/[dDwWsSbB]/.test(letter)) tokens.push({ kind: "other", source: `\\${letter}` });
      else if (letter === "A") tokens.push({ kind: "start", source: "^" });
      else if (letter === "z" || letter === "Z") tokens.push({ kind: "end", source: "$" });
      else if (/[0-9A-Za-z]/.test(letter) || letter === "") return `\\${letter}`;
      else literal(letter);
      at += 2;
    } else if (character === "(") {
      const opening = found(/^\((?:\?(?:P?<[A-Za-z_]\w*>|:|=|!|<=|<!))?/)!;
      if (opening === "(" && /[?*]/.test(regex[at + 1] ?? "")) return found(/^\([?*][^)]{0,8}/)!;
      const isCapture = opening === "(" || /[A-Za-z_]/.test(opening);
      tokens.push({ kind: "open", source: isCapture ? "(?:" : opening });
      at += opening.length;
    } else if (character === "[") {
      const written = found(/^\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]/);
      if (written === undefined) return "a [ without its ]";
      const text = written.replace(/\[:(\w+):\]/g, (whole, name: string) => POSIX[name] ?? whole);
      if (/\[:\w+:\]/.test(text)) return /\[:\w+:\]/.exec(text)![0];
      tokens.push({ kind: "other", source: characterClass(text, ignoreCase) });
      at += written.length;
    } else {
      if (character === ")") tokens.push({ kind: "close", source: ")" });
      else if (character === "|") tokens.push({ kind: "or", source: "|" });
      else if (character === "^") tokens.push({ kind: "start", source: "^" });
      else if (character === "$") tokens.push({ kind: "end", source: "$" });
      else if (character === ".") tokens.push({ kind: "other", source: "." });
      else literal(character);
      at += character.length;
    }
  }
  return isExpression(tokens) ? tokens : regex;
}

/** False for a class like `[z-a]` or a bracket without its partner, for example. */
function isExpression(tokens: readonly Token[]): boolean {
  const source = tokens.map((token) => token.source).join("");
  try {
    // A pattern has only ASCII in its groups.
    return /^\p{ASCII}*$/u.test(source) && new RegExp(source, "v") !== null;
  } catch {
    return false; // RegExp throws on an invalid expression.
  }
}

/** `[a-z_-]` with the escapes that JavaScript's classes need. */
function characterClass(text: string, ignoreCase: boolean): string {
  const isNegated = text.startsWith("[^");
  const members = text.slice(isNegated ? 2 : 1, -1);
  const escaped = (character: string) => (/[()[\]{}/\-\\|^]/.test(character) ? `\\${character}` : character);
  const parts: string[] = [];
  for (const [member] of members.matchAll(/\\.|[^\\]-[^\\\]]|[^\\]/gs)) {
    if (/^\\[dDwWsS]$/.test(member)) parts.push(member);
    else if (member.length === 3) {
      parts.push(`${escaped(member[0]!)}-${escaped(member[2]!)}`);
      if (ignoreCase && /^[a-z]-[a-z]$/.test(member)) parts.push(member.toUpperCase());
      if (ignoreCase && /^[A-Z]-[A-Z]$/.test(member)) parts.push(member.toLowerCase());
    } else {
      const character = member.at(-1)!;
      parts.push(escaped(character));
      if (ignoreCase && /[a-z]/i.test(character)) {
        parts.push(character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase());
      }
    }
  }
  return `[${isNegated ? "^" : ""}${[...new Set(parts)].join("")}]`;
}

/** Patterns match paths in the form of URLs, but nginx matches them decoded. */
function encoded(text: string): string {
  return text.replace(/[^\x21-\x7e]|["%<>]/gu, (character) => encodeURIComponent(character));
}
