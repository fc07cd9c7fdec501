/** A token of a text, and where it stands. */
export interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** A comma before a closing bracket. Formatters put it there and take it away. */
  readonly isTrailingComma: boolean;
}

const TOKEN = /[\w$#]+|[!=]==?|[<>]=|=>|&&|\|\||\?[?.]|\.{3}|\S/g;
const CLOSING: ReadonlySet<string | undefined> = new Set([")", "]", "}", ">"]);

/**
 * The tokens of a text, by which two texts that differ only in their format are the same: spaces, line breaks and the kind
 * of quotes do not count. What stands in strings and templates is split into tokens as well, so that one can name a part of
 * a query in SQL.
 */
export function tokensOf(text: string): readonly Token[] {
  const found = [...text.matchAll(TOKEN)];
  return found.map(({ 0: token, index: start }, index) => ({
    text: token === "'" ? '"' : token,
    start,
    end: start + token.length,
    isTrailingComma: token === "," && CLOSING.has(found[index + 1]?.[0]),
  }));
}

/** A range of a text. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/** Every place in a text where a piece stands. Trailing commas do not count. */
export function placesOf(piece: readonly Token[], text: readonly Token[]): readonly Place[] {
  return text.flatMap(({ start }, first) => {
    const end = endOfMatch(piece, text, first);
    return end === undefined ? [] : [{ start, end }];
  });
}

function endOfMatch(piece: readonly Token[], text: readonly Token[], first: number): number | undefined {
  let at = first;
  for (const [index, token] of piece.entries()) {
    if (text[at]?.text !== token.text && text[at]?.isTrailingComma && at > first) at++;
    if (text[at]?.text === token.text) at++;
    else if (!isLeftOut(token, piece[index + 1]?.text ?? text[at]?.text)) return undefined;
  }
  return at > first ? text[at - 1]!.end : undefined;
}

/** Whether a formatter may have left out this token of a piece: a comma that would come before a closing bracket. */
function isLeftOut({ text }: Token, next: string | undefined): boolean {
  return text === "," && CLOSING.has(next);
}
