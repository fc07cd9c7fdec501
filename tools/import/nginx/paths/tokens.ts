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
  const source = sourceOf(tokens);
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
