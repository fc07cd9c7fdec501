import { matchesAnyName } from "./name-pattern.ts";

/** Names and patterns by which an owner picks cookies or parameters. */
export interface NamesAndPatterns {
  /** A trailing `*` stands for any ending. */
  readonly names: readonly string[];
  /** Looked for anywhere in the whole text. */
  readonly patterns: readonly RegExp[];
}

/** Flags that keep a pattern the same at each use. `g` and `y` go on where the last use stopped. */
const WRITTEN = /^\/(.+)\/([imsu]*)$/s;

/** A pattern that is written as text, like `/session/i`; `null` for any other text. */
export function readPattern(text: string): RegExp | null {
  const [, source, flags] = WRITTEN.exec(text) ?? [];
  if (source === undefined) return null;
  try {
    return new RegExp(source, flags);
  } catch {
    return null; // Not an expression, or with one flag twice.
  }
}

/** Names, and patterns that are written as text. */
export function namesAndPatterns(texts: readonly string[]): NamesAndPatterns {
  return {
    names: texts.filter((text) => !text.startsWith("/")),
    patterns: texts.filter((text) => text.startsWith("/")).map((text) => readPattern(text)!),
  };
}

/** Whether a text contains one of the patterns, or one of the names in it is picked. */
export function picks(
  { names, patterns }: NamesAndPatterns,
  text: string,
  namesIn: (text: string) => readonly string[],
): boolean {
  if (patterns.some((pattern) => pattern.test(text))) return true;
  return names.length > 0 && namesIn(text).some((name) => matchesAnyName(name, names));
}
