import { ImportError } from "../../imported-site.ts";
import { endOfLua, LUA_BLOCK } from "./lua-block.ts";

/** A directive of one file. */
export interface Statement {
  readonly name: string;
  /** The parameters, without their quotes. */
  readonly args: readonly string[];
  /** `null` for none, and for a block of Lua, which holds no directives. */
  readonly block: readonly Statement[] | null;
  readonly line: number;
}

/** The deepest nesting of blocks in a file, because the import follows each block into those within it. */
const MAX_DEPTH = 100;

/**
 * Blanks, a comment, a sign, text in quotes, or a word, as nginx reads them (`ngx_conf_read_token`): quotes, `}` and `#` are
 * characters of a word unless it begins with them, `\` takes the next character along, and `${` opens no block.
 */
const TOKEN = new RegExp(
  [
    /(?<blanks>[ \t\r\n]+|#[^\n]*)/,
    /(?<sign>[;{}])/,
    /(?:"(?<double>[^"\\]*(?:\\.[^"\\]*)*)"|'(?<single>[^'\\]*(?:\\.[^'\\]*)*)')(?=[ \t\r\n;{)]|$)/,
    /(?!["'])(?<word>(?:\\.?|\$\{*|[^ \t\r\n;{\\$]+)+)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "sy",
);

/** What reading a file makes of bytes that are not UTF-8: nginx compares these, and the import could not tell which. */
const NOT_UTF8 = "\uFFFD";

/** Parses one file. Throws `ImportError` with file and line. */
export function parseStatements(text: string, file: string): readonly Statement[] {
  const refuse = (message: string, line: number): never => {
    throw new ImportError(`${file}:${line}: ${message}`);
  };
  const statements: Statement[] = [];
  /** The blocks that are not closed yet. */
  const open: { readonly name: string; readonly line: number; readonly block: Statement[] }[] = [];
  let words: string[] = [];
  let line = 1;
  let begunAt = line;
  for (let at = 0, end = 0; at < text.length; at = end) {
    TOKEN.lastIndex = at;
    const { blanks, sign, double, single, word } = TOKEN.exec(text)?.groups ?? {};
    end = TOKEN.lastIndex;
    if (sign === "}") {
      if (words.length > 0) refuse(withoutEnd(words), begunAt);
      if (open.pop() === undefined) refuse('there is an extra "}"', line);
    } else if (sign !== undefined) {
      const [name, ...args] = words;
      if (name === undefined) return refuse(`there is nothing before this "${sign}"`, line);
      const isLua = sign === "{" && LUA_BLOCK.test(name);
      const block: Statement[] | null = sign === "{" && !isLua ? [] : null;
      (open.at(-1)?.block ?? statements).push({ name, args, block, line: begunAt });
      if (block !== null) open.push({ name, line: begunAt, block });
      if (open.length > MAX_DEPTH) refuse(`blocks are more than ${MAX_DEPTH} levels deep in each other`, begunAt);
      if (isLua) end = endOfLua(text, at) ?? refuse(`the Lua of "${name}" is not closed by "}"`, line);
      words = [];
    } else if (blanks === undefined) {
      const found = double ?? single ?? word ?? refuse(withoutQuote(text.slice(at)), line);
      if (found.includes(NOT_UTF8)) refuse(`${JSON.stringify(found)} is not UTF-8. Write the file in UTF-8`, line);
      if (words.length === 0) begunAt = line;
      words.push(unescaped(found));
    }
    line += text.slice(at, end).split("\n").length - 1;
  }
  if (words.length > 0) refuse(withoutEnd(words), begunAt);
  const last = open.at(-1);
  if (last !== undefined) refuse(`the block of "${last.name}" is not closed by "}"`, last.line);
  return statements;
}

function withoutEnd([name]: readonly string[]): string {
  return `"${name}" has no ";" or "{" at its end`;
}

function withoutQuote(text: string): string {
  return `the text in quotes ${JSON.stringify(/^.{1,40}/.exec(text)![0])} has no end, or no space after it`;
}

/** As nginx does in each word: `\"` is a quote, and before other characters `\` stays, as expressions need it. */
function unescaped(word: string): string {
  const meaning: Record<string, string> = { t: "\t", r: "\r", n: "\n" };
  return word.replace(/\\(["'\\trn])/g, (_, character: string) => meaning[character] ?? character);
}
