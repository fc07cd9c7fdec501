import { mayTakeExponentialTime } from "#tidemark/internal";

/** The constructs that mean the same in nginx's PCRE and in JavaScript, on text without line ends. */
const PIECES = [
  String.raw`\((?![?*])`,
  String.raw`\(\?(?:[:=!]|<[=!]|P?<[A-Za-z_]\w*>)`,
  String.raw`\\[dDwWsSbB]`,
  String.raw`\\[^A-Za-z0-9]`,
  String.raw`\[(?!\^\])\^?(?:\\[dDwWsS]|\\[^A-Za-z0-9]|\[(?![:.=])|[^\]\\[])+\]`,
  String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??(?!\+)`,
  String.raw`[^\\[*+?({]`,
  String.raw`\{(?![\d, \t]+\})`,
];
const PORTABLE = new RegExp(`^(?:${PIECES.join("|")})*$`, "s");

/**
 * An expression of nginx as a JavaScript one; `null` if it has a construct that only PCRE has, or may take
 * exponential time. As in nginx, it may match anywhere in the text.
 */
export function portableRegex(source: string, { ignoreCase }: { ignoreCase: boolean }): RegExp | null {
  const isInsensitive = ignoreCase || source.startsWith("(?i)");
  const bare = source.replace(/^\(\?i\)/, "");
  // nginx compares bytes, so a character outside ASCII counts as several.
  if (bare === "" || /[^\x20-\x7e]/.test(bare) || !PORTABLE.test(bare)) return null;
  try {
    const regex = new RegExp(bare.replaceAll("(?P<", "(?<"), isInsensitive ? "i" : "");
    if (mayTakeExponentialTime(regex.source, regex.flags)) return null;
    // It may match anywhere anyway. PCRE leaves that out, too; V8 would try each beginning with each length.
    return new RegExp(regex.source.replace(/^(?:\.\*\??)+(?=.)/, ""), regex.flags);
  } catch {
    return null; // An unbalanced bracket, for example.
  }
}

/**
 * Whether matching an expression of nginx may take exponential time. nginx gives up after a number of steps, and answers
 * 500; an expression of JavaScript goes on.
 */
export function isTooSlow({ source, ignoreCase }: { readonly source: string; readonly ignoreCase: boolean }): boolean {
  return mayTakeExponentialTime(source.replace(/^\(\?i\)/, ""), ignoreCase || source.startsWith("(?i)") ? "i" : "");
}

/** The text with all special characters of expressions escaped. */
export function escapedForRegex(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}
