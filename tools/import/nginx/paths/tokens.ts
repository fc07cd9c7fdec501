export interface Token {
  readonly kind: "literal" | "other" | "quantifier" | "open" | "close" | "or" | "start" | "end";
  /** In the syntax of JavaScript with the flag `v`. */
  readonly source: string;
  /** The character of a literal. */
  readonly character?: string;
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

/** A quantifier from PCRE2 10.43 on, and text before: `{,3}`. */
const NEWER_QUANTIFIER = /^\{[\d, \t]+\}/;

/** Escapes in classes that JavaScript does not have, or for which it has no range: `\h`, `\x00`. */
const OF_PCRE = /\\(?![dDwWsS])[\dA-Za-z]/;

/** The tokens of an expression, or a construct that JavaScript does not have or that cannot match paths. */
export function tokenize(regex: string, ignoreCase: boolean): Token[] | string {
  if (regex.startsWith("(?i)")) return tokenize(regex.slice("(?i)".length), true);
  const tokens: Token[] = [];
  const literal = (character: string) => {
    const escaped = encoded(character).replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
    if (ignoreCase && /[a-z]/i.test(character))
      tokens.push({ kind: "other", source: `[${character}${inOtherCase(character)}]` });
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
    } else if (NEWER_QUANTIFIER.test(rest)) return found(NEWER_QUANTIFIER)!;
    else if (character === "\\") {
      const letter = found(/(?<=^\\)./su) ?? "";
      if (/[dDwWsSbB]/.test(letter)) tokens.push({ kind: "other", source: `\\${letter}` });
      else if (letter === "A") tokens.push({ kind: "start", source: "^" });
      else if (letter === "z" || letter === "Z") tokens.push({ kind: "end", source: "$" });
      else if (/[0-9A-Za-z]/.test(letter) || letter === "") return `\\${letter}`;
      else literal(letter);
      at += 1 + letter.length;
    } else if (character === "(") {
      const opening = found(/^\((?:\?(?:P?<[A-Za-z_]\w*>|:|=|!|<=|<!))?/)!;
      if (opening === "(" && /[?*]/.test(regex[at + 1] ?? "")) return found(/^\([?*][^)]{0,8}/)!;
      const isCapture = opening === "(" || /[A-Za-z_]/.test(opening);
      tokens.push({ kind: "open", source: isCapture ? "(?:" : opening });
      at += opening.length;
    } else if (character === "[") {
      const written = found(/^\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]/);
      if (written === undefined) return "a [ without its ]";
      const text = written.replace(/\[:(\w+):\]/g, (whole, name: string) => POSIX[name] ?? whole);
      if (/\[:\^?\w+:\]/.test(text) || written.match(/\\./g)?.some((each) => OF_PCRE.test(each))) return written;
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
  const source = sourceOf(tokens);
  try {
    // A pattern has only ASCII in its groups.
    return /^\p{ASCII}*$/u.test(source) && new RegExp(source, "v") !== null;
  } catch {
    return false; // RegExp throws on an invalid expression.
  }
}

const LETTERS = [
  ["a", "z"],
  ["A", "Z"],
] as const;

function inOtherCase(letter: string): string {
  return letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
}

/** What a class has: a range, an escape, or a character. */
const MEMBERS = /(\\[^\dA-Za-z]|[^\\])-(\\[^\dA-Za-z]|[^\\])|\\.|[^\\]/gs;

/** `[a-z_-]` with the escapes that JavaScript's classes need. */
function characterClass(text: string, ignoreCase: boolean): string {
  const isNegated = text.startsWith("[^");
  const members = text.slice(isNegated ? 2 : 1, -1);
  const escaped = (character: string) => (/[()[\]{}/\-\\|^]/.test(character) ? `\\${character}` : character);
  const span = (from: string, to: string) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`);
  const parts: string[] = [];
  for (const [member, first = member, last = first] of members.matchAll(MEMBERS)) {
    if (/^\\[dDwWsS]$/.test(member)) {
      parts.push(member);
      continue;
    }
    const [from, to] = [first.at(-1)!, last.at(-1)!];
    parts.push(span(from, to));
    for (const [least, most] of ignoreCase ? LETTERS : []) {
      const [low, high] = [from > least ? from : least, to < most ? to : most];
      if (low <= high) parts.push(span(inOtherCase(low), inOtherCase(high)));
    }
  }
  return `[${isNegated ? "^" : ""}${[...new Set(parts)].join("")}]`;
}

/** Patterns match paths in the form of URLs, but nginx matches them decoded. */
export function encoded(text: string): string {
  return text.replace(/[^\x21-\x7e]|["%<>]/gu, (character) => encodeURIComponent(character));
}

/** The place of the token that closes the group which the one at `start` opens; behind all tokens if none does. */
export function endOfGroup(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    if (tokens[at]!.kind === "open") depth++;
    if (tokens[at]!.kind === "close" && --depth === 0) return at;
  }
  return tokens.length;
}

/** The expression that tokens are. */
export function sourceOf(tokens: readonly Token[]): string {
  return tokens.map(({ source }) => source).join("");
}
