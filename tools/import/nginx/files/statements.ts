import { NginxParser, type NginxParseTreeNode } from "nginx-conf/dist/src/parser.js";
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

/** Parses one file. Throws `ImportError` with file and line. */
export function parseStatements(text: string, file: string): readonly Statement[] {
  const parser = new NumberedParser();
  const refuse = (message: string, line: number): never => {
    throw new ImportError(`${file}:${line}: ${message}`);
  };
  let root: NginxParseTreeNode | undefined;
  try {
    // The end of a line ends the last word.
    parser.parse(`${text}\n`, (error, tree) => {
      if (error) refuse(error.message, parser.lineOf(null));
      root = tree;
    });
  } catch (error) {
    if (error instanceof ImportError) throw error;
    refuse('there is an extra "}" before this line', parser.lineOf(null));
  }
  const lost = parser.firstLost(root!);
  if (lost !== null) refuse(`"${lost.name}" has no ";" or "{" at its end`, parser.lineOf(lost));
  const open = parser.openBlock(root!);
  if (open === undefined) refuse('there is an extra "}"', parser.lineOf(null));
  if (open) refuse(`the block of "${open.name}" is not closed by "}"`, parser.lineOf(open));
  const toStatements = ({ children }: NginxParseTreeNode, depth: number): readonly Statement[] =>
    (children ?? []).map((node) => {
      const line = parser.lineOf(node);
      if (depth > MAX_DEPTH) refuse(`blocks are more than ${MAX_DEPTH} levels deep in each other`, line);
      const block = node.isBlock ? toStatements(node, depth + 1) : null;
      return { name: wordsOf(node.name)[0] ?? "", args: wordsOf(node.value), block, line };
    });
  return toStatements(root!, 0);
}

/** The private members of the package's parser that tell its position. */
interface Inner {
  readonly source: string;
  index: number;
  readonly context: NginxParseTreeNode | null;
  setError(message: string): void;
}

function innerOf(parser: NginxParser): Inner {
  return parser as unknown as Inner;
}

const BLANKS_BEFORE_COMMENT = /\s+(?=#)/y;

/** The package's parser, which also records the line on which each directive begins. */
class NumberedParser extends NginxParser {
  readonly #lines = new Map<NginxParseTreeNode, number>();
  /** The parameters before blocks of Lua, which the package does not allow. */
  readonly #beforeLua = new Map<NginxParseTreeNode, string>();
  #countedTo = 0;
  #line = 1;

  /** The line of a directive; for `null` the one that the parser has reached. */
  lineOf(node: NginxParseTreeNode | null): number {
    return (node === null ? undefined : this.#lines.get(node)) ?? this.#reachedLine();
  }

  /** The first directive that the parser has begun but not finished. */
  firstLost(root: NginxParseTreeNode): NginxParseTreeNode | null {
    for (const node of this.#lines.keys()) {
      if (node !== root && node.name.trim() !== "" && !node.parent?.children?.includes(node)) return node;
    }
    return null;
  }

  /** The block that is open at the end; `null` for none, `undefined` if more were closed than opened. */
  openBlock(root: NginxParseTreeNode): NginxParseTreeNode | null | undefined {
    const parent = innerOf(this).context?.parent;
    if (!parent) return undefined;
    return parent === root ? null : parent;
  }

  /** Skips Lua. The package would count braces in strings and comments, and skip text after the last brace. */
  override readVerbatimBlock(): string {
    const inner = innerOf(this);
    const end = endOfLua(inner.source, inner.index);
    if (end === null) inner.setError(`the Lua of "${inner.context!.name}" is not closed by "}"`);
    else inner.index = end;
    return this.#beforeLua.get(inner.context!) ?? "";
  }

  override readWord(): string {
    const inner = innerOf(this);
    const startedAt = inner.index;
    // The package reads a word together with the space before it, and would take " #comment" for a word.
    BLANKS_BEFORE_COMMENT.lastIndex = startedAt;
    const [blanks] = BLANKS_BEFORE_COMMENT.exec(inner.source) ?? [];
    if (blanks !== undefined) {
      inner.index += blanks.length;
      return blanks;
    }
    const { context } = inner;
    const isBeforeLua = context !== null && LUA_BLOCK.test(context.name);
    const word = super.readWord();
    if (word.trim() !== "") this.#note(startedAt);
    if (!isBeforeLua) return word;
    this.#beforeLua.set(context, (this.#beforeLua.get(context) ?? "") + word);
    return "";
  }

  override readString(): string {
    this.#note(innerOf(this).index);
    return super.readString();
  }

  #note(index: number): void {
    const node = innerOf(this).context;
    if (!node || this.#lines.has(node)) return;
    this.#lines.set(node, this.#lineAt(index));
  }

  #reachedLine(): number {
    return this.#lineAt(innerOf(this).index);
  }

  #lineAt(index: number): number {
    const source = innerOf(this).source;
    if (index < this.#countedTo) return this.#line;
    for (; this.#countedTo < index; this.#countedTo++) if (source[this.#countedTo] === "\n") this.#line++;
    return this.#line;
  }
}

/** Splits parameters as nginx does: white space separates them, quotes hold them together, and `\"` is a quote. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (word === null && /\s/.test(character)) continue;
    if (word === null && (character === '"' || character === "'")) {
      let end = at + 1;
      while (end < text.length && text[end] !== character) end += text[end] === "\\" ? 2 : 1;
      words.push(unescaped(text.slice(at + 1, end)));
      at = end;
    } else if (word !== null && /\s/.test(character)) {
      words.push(unescaped(word));
      word = null;
    } else {
      word = (word ?? "") + character;
    }
  }
  if (word !== null) words.push(unescaped(word));
  return words;
}

function unescaped(word: string): string {
  const meaning: Record<string, string> = { t: "\t", r: "\r", n: "\n" };
  return word.replace(/\\(["'\\trn])/g, (_, character: string) => meaning[character] ?? character);
}
