import { ImportError, type Source } from "../imported-site.ts";

/** A statement of VCL: a plain one, an `if` with its block, or the block of a backend, a sub or an acl. */
export interface VclStatement {
  /** The words before `;` or `{`, with single spaces, like `set beresp.ttl = 1h` or `if (req.url ~ "^/a")`. */
  readonly text: string;
  readonly block: readonly VclStatement[] | null;
  readonly source: Source;
}

/** Splits a VCL into statements. Throws `ImportError` with file and line. */
export function vclStatements(text: string, file: string): readonly VclStatement[] {
  const top: VclStatement[] = [];
  const open: { text: string; line: number; into: VclStatement[] }[] = [];
  let into = top;
  let words = "";
  let began = 1;
  let line = 1;
  const statement = (words: string, block: readonly VclStatement[] | null, at: number): VclStatement => {
    const text = withUsualSpaces(words.trim());
    return { text, block, source: { place: `${file}:${at}`, text } };
  };
  // Comments, long and short strings, the ends of statements, and everything else.
  const pieces =
    /\/\*[\s\S]*?\*\/|(?:\/\/|#)[^\n]*|\{"[\s\S]*?"\}|"""[\s\S]*?"""|"[^"\n]*"|[;{}]|\s+|[^;{}"\s/#]+|[/#"]/g;
  for (const [piece] of text.matchAll(pieces)) {
    const isComment = /^(?:\/\*|\/\/|#)/.test(piece);
    if (piece === ";") {
      if (words.trim() !== "") into.push(statement(words, null, began));
      words = "";
    } else if (piece === "{") {
      open.push({ text: words.trim(), line: began, into });
      into = [];
      words = "";
    } else if (piece === "}") {
      const block = open.pop();
      if (!block) throw new ImportError(`${file}:${line}: there is a "}" too many`);
      if (words.trim() !== "") throw new ImportError(`${file}:${began}: "${words.trim()}" is not ended by ";"`);
      block.into.push(statement(block.text, into, block.line));
      into = block.into;
    } else if (isComment || /^\s/.test(piece)) {
      if (words !== "" && !words.endsWith(" ")) words += " ";
    } else {
      if (words.trim() === "") began = line;
      words += piece;
    }
    line += piece.split("\n").length - 1;
  }
  const unclosed = open.at(-1);
  if (unclosed) throw new ImportError(`${file}:${unclosed.line}: the block of "${unclosed.text}" is not closed by "}"`);
  if (words.trim() !== "") throw new ImportError(`${file}:${began}: "${words.trim()}" is not ended by ";"`);
  return top;
}

/** `return(pass)` and `if(a)` as they are usually written. */
function withUsualSpaces(text: string): string {
  return text.replace(/^(return|if|elsif|elseif|else if)\s*\(\s*/, "$1 (").replace(/\s*\)$/, ")");
}
