import { endOfGroup, type Token, tokenize } from "./tokens.ts";

/**
 * For an expression that is compared with a folder's path, `/blog/`, and with that of its index, `/blog/index.php`:
 * whether it may match only the second. False for `/\.git`, which matches both or neither.
 */
export function mayReachInto(name: string, regex: string, { ignoreCase }: { ignoreCase: boolean }): boolean {
  const tokens = tokenize(regex, ignoreCase);
  if (typeof tokens === "string") return true;
  const tree = parsed(withoutLooks(tokens) ?? []);
  if (tree === null || withoutLooks(tokens) === null) return true;
  const least = tree.map(withoutOptionalEnd);
  // The match begins within the name; or before it, and then the part before the name is left out.
  const within = `[^]+(?:${whole(least)})`;
  const across = `(?:${ending(least)})(?<=^[^]{2,})`;
  return new RegExp(`^(?:${across}|${within})`).test(`/${name}`);
}

/** The expression of the folders whose index this one may match: its part before the name must match the folder. */
export function foldersBefore(regex: string, { ignoreCase }: { ignoreCase: boolean }): string {
  const tokens = tokenize(regex, ignoreCase);
  const tree = typeof tokens === "string" ? null : parsed(withoutLooks(tokens) ?? []);
  const starts = (tree ?? [[]]).map((pieces) => {
    // A name has no slash.
    const last = pieces.findLastIndex(({ source, quantifier }) => source === "\\/" && quantifier === "");
    return whole([pieces.slice(0, last + 1)]);
  });
  return starts.includes("") ? "/$" : `(?:${starts.join("|")})(?:.*/)?$`;
}

/** A piece of an expression: a character, a class, an assertion, or a group of alternatives. */
interface Piece {
  readonly source: string;
  /** The alternatives of a group; `null` for another piece. */
  readonly group: Tree | null;
  readonly quantifier: string;
}

/** The alternatives of an expression. */
type Tree = readonly (readonly Piece[])[];

/**
 * The tokens without lookarounds. A lookbehind sees the folder, and what a negative lookahead rejects within the
 * folder, it also rejects at its end. `null` for a lookaround that could see the name.
 */
function withoutLooks(tokens: readonly Token[]): readonly Token[] | null {
  const kept: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const { kind, source } = tokens[at]!;
    if (kind === "other" && /^\\[bB]$/.test(source)) return null;
    if (kind !== "open" || source === "(?:") {
      kept.push(tokens[at]!);
      continue;
    }
    const end = endOfGroup(tokens, at);
    const seesEnd = tokens.slice(at, end).some((each, index) => each.kind === "end" || (index > 0 && isLook(each)));
    if (source === "(?=" || (source === "(?!" && seesEnd)) return null;
    at = end;
  }
  return kept;
}

function isLook({ kind, source }: Token): boolean {
  return kind === "open" && source !== "(?:";
}

/** The expression as a tree; `null` for unbalanced brackets. */
function parsed(tokens: readonly Token[]): Tree | null {
  const tree: Piece[][] = [[]];
  for (let at = 0; at < tokens.length; at++) {
    const { kind, source } = tokens[at]!;
    if (kind === "close" || kind === "quantifier") return null;
    if (kind === "or") {
      tree.push([]);
      continue;
    }
    const end = kind === "open" ? endOfGroup(tokens, at) : at;
    const group = kind === "open" ? parsed(tokens.slice(at + 1, end)) : null;
    if (kind === "open" && group === null) return null;
    const next = tokens[end + 1];
    const quantifier = next?.kind === "quantifier" ? next.source : "";
    tree.at(-1)!.push({ source, group, quantifier });
    at = quantifier === "" ? end : end + 1;
  }
  return tree;
}

/** An optional end matches wherever the rest does. */
function withoutOptionalEnd(pieces: readonly Piece[]): readonly Piece[] {
  const last = pieces.at(-1);
  if (last === undefined || last.quantifier === "") return pieces;
  if (/^[*?]|^\{0/.test(last.quantifier)) return withoutOptionalEnd(pieces.slice(0, -1));
  return last.quantifier.startsWith("+") ? [...pieces.slice(0, -1), { ...last, quantifier: "" }] : pieces;
}

function whole(tree: Tree): string {
  return tree.map((pieces) => pieces.map(wholePiece).join("")).join("|");
}

function wholePiece({ source, group, quantifier }: Piece): string {
  return group === null ? `${source}${quantifier}` : `(?:${whole(group)})${quantifier}`;
}

/** All possible rests of a match whose beginning is left out. */
function ending(tree: Tree): string {
  return tree
    .flatMap((pieces) =>
      pieces.map((piece, at) => {
        // The start of the path is never within it.
        const rest = pieces.slice(at + 1).map((each) => (each.source === "^" ? "(?!)" : wholePiece(each)));
        return `${endingOfPiece(piece)}${rest.join("")}`;
      }),
    )
    .join("|");
}

function endingOfPiece({ source, group, quantifier }: Piece): string {
  if (source === "^") return "";
  if (group === null) return quantifier === "" ? `(?:${source})?` : `(?:${source})*`;
  const again = quantifier === "" ? "" : `(?:${whole(group)})*`;
  return `(?:${ending(group)})${again}`;
}
