import { type Token, tokenize } from "./path-patterns.ts";

/** Characters of an escape like `%C3`, as URLs have them. */
const OF_ESCAPES = "%0123456789ABCDEF";

/**
 * Whether an expression may match an escape like `%C3` differently from the byte that nginx compares: `^/.$` matches
 * one byte. False for most expressions: `\.(jpg|png)$`, `^/blog/.*`.
 */
export function seesEscapes(regex: string, { ignoreCase }: { ignoreCase: boolean }): boolean {
  const tokens = tokenize(regex, ignoreCase);
  if (typeof tokens === "string") return false; // No pattern is made of it.
  const startsAnywhere = tokens[0]?.kind !== "start";
  // Whether the current place may be within an escape; for each open group, its beginning and its possible ends.
  let isWithin = startsAnywhere;
  const groups: { readonly start: boolean; mayEndWithin: boolean }[] = [];
  for (const [index, token] of tokens.entries()) {
    const quantifier = tokens[index + 1]?.kind === "quantifier" ? tokens[index + 1]!.source : "";
    const isOptional = /^[*?]|^\{0/.test(quantifier);
    switch (token.kind) {
      case "open":
        if (token.source !== "(?:") return true;
        groups.push({ start: isWithin, mayEndWithin: false });
        break;
      case "or": {
        const group = groups.at(-1);
        if (group) group.mayEndWithin ||= isWithin;
        isWithin = group?.start ?? tokens[index + 1]?.kind !== "start";
        break;
      }
      case "close": {
        const group = groups.pop();
        isWithin ||= group !== undefined && (group.mayEndWithin || (isOptional && group.start));
        break;
      }
      case "literal":
      case "other": {
        if (token.source === "\\b" || token.source === "\\B") return true;
        const isAfterEscape = isWild(token);
        if (isAfterEscape ? !isWithin && !/^[*+]/.test(quantifier) : isWithin && matchesAny(token, OF_ESCAPES))
          return true;
        isWithin = isAfterEscape || (isOptional && isWithin);
        break;
      }
      default:
    }
  }
  return false;
}

function isWild(token: Token): boolean {
  return token.kind === "other" && matchesAny(token, "é") && !/^\[(?!\^)/.test(token.source);
}

function matchesAny({ source }: Token, characters: string): boolean {
  const regex = new RegExp(`^(?:${source})$`);
  return [...characters].some((each) => regex.test(each));
}
