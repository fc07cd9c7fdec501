/** One piece of an expression, with its quantifier. A group is one piece. */
const PIECE = /(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\[])(?:[*+?]|\{\d+(?:,\d*)?\})?[?+]?/sy;

/**
 * For an expression that nginx searches for in path and query together (`$request_uri`): an expression that is found in
 * each query that contains or ends the match. Empty if any query may; `null` if a match may be in the path alone.
 */
export function queryTail(regex: string): string | null {
  // A negative lookahead at the end of the text sees another end if the query is left out.
  if (/\(\?<?![^)]*\$/.test(regex)) return "";
  const tails = alternatives(regex).map(tailOf);
  if (tails.includes("")) return "";
  const told = tails.filter((tail) => tail !== null);
  return told.length === 0 ? null : told.join("|");
}

function tailOf(alternative: string): string | null {
  const pieces = piecesOf(alternative);
  if (pieces === null) return "";
  const last = pieces.findLastIndex(mayMatchQuestionMark);
  if (last !== -1) return pieces.slice(last + 1).join("");
  return alternative.startsWith("^") || alternative.startsWith("\\A") ? null : alternative;
}

/** Whether a piece may match the `?` in front of the query. */
function mayMatchQuestionMark(piece: string): boolean {
  if (piece.startsWith("(")) {
    const inner = /^\((?:\?(?:[:=!]|<[=!]|P?<\w+>))?(.*)\)(?:[*+?]|\{[^}]*\})?[?+]?$/s.exec(piece)?.[1];
    if (inner === undefined) return true;
    return alternatives(inner).some((each) => piecesOf(each)?.some(mayMatchQuestionMark) ?? true);
  }
  if (piece.startsWith("[^")) return !piece.includes("?");
  if (piece.startsWith("[")) return /\?|\\[DWS]|[!-?]-[?-~]/.test(piece);
  return (
    piece.startsWith(".") || piece.startsWith("\\?") || /^\\[DWSA-Za-z]/.test(piece) !== /^\\[dwsbBAzZ]/.test(piece)
  );
}

/** The alternatives of the outermost level. */
export function alternatives(regex: string): string[] {
  const found = [""];
  let depth = 0;
  for (const [piece] of regex.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|./gs)) {
    if (piece === "(") depth++;
    if (piece === ")") depth--;
    if (piece === "|" && depth === 0) found.push("");
    else found[found.length - 1] += piece;
  }
  return found;
}

/** The pieces of an expression without alternatives; `null` for unbalanced brackets. */
function piecesOf(alternative: string): string[] | null {
  const pieces: string[] = [];
  for (let at = 0; at < alternative.length; ) {
    const length = alternative[at] === "(" ? groupLength(alternative, at) : pieceLength(alternative, at);
    if (length === null) return null;
    pieces.push(alternative.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function pieceLength(text: string, at: number): number | null {
  PIECE.lastIndex = at;
  return PIECE.exec(text)?.[0].length ?? null;
}

function groupLength(text: string, at: number): number | null {
  let depth = 0;
  for (const found of text.slice(at).matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|./gs)) {
    if (found[0] === "(") depth++;
    if (found[0] !== ")" || --depth > 0) continue;
    const end = at + found.index + 1;
    return end - at + (/^(?:[*+?]|\{\d+(?:,\d*)?\})?[?+]?/.exec(text.slice(end))?.[0].length ?? 0);
  }
  return null;
}
