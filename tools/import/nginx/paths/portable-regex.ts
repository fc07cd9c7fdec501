/** Everything that means the same in PCRE, as nginx uses it, and in JavaScript, on text without line ends. */
const PIECES = [
  String.raw`\((?![?*])`,
  String.raw`\(\?(?:[:=!]|<[=!]|P?<[A-Za-z_]\w*>)`,
  String.raw`\\[dDwWsSbB]`,
  String.raw`\\[^A-Za-z0-9]`,
  String.raw`\[\^?(?:\\[dDwWsS]|\\[^A-Za-z0-9]|\[(?![:.=])|[^\]\\[])+\]`,
  String.raw`(?:[*+?]|\{\d+(?:,\d*)?\})\??(?!\+)`,
  String.raw`[^\\[*+?(]`,
];
const PORTABLE = new RegExp(`^(?:${PIECES.join("|")})*$`, "s");

/**
 * An expression of nginx as JavaScript has it; `null` for one with a construct that only PCRE has. A match is looked for
 * anywhere in the text, as in nginx.
 */
export function portableRegex(source: string, { ignoreCase }: { ignoreCase: boolean }): RegExp | null {
  const isInsensitive = ignoreCase || source.startsWith("(?i)");
  const bare = source.replace(/^\(\?i\)/, "");
  // nginx compares bytes, so that a character outside ASCII is several.
  if (bare === "" || /[^\x20-\x7e]/.test(bare) || !PORTABLE.test(bare)) return null;
  try {
    return new RegExp(bare.replaceAll("(?P<", "(?<"), isInsensitive ? "i" : "");
  } catch {
    return null; // A bracket without its other one, for example.
  }
}

/** The text with all characters escaped that mean something in an expression. */
export function escapedForRegex(text: string): string {
  return text.replace(/[\^$\\.*+?()[\]{}|/]/g, "\\$&");
}
