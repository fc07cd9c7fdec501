import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A fenced block of a page. */
export interface Block {
  /** Like `docs/purging.md`. */
  readonly page: string;
  /** The heading above it; empty at the top of a page. */
  readonly heading: string;
  /** Empty if the fence names none. */
  readonly language: string;
  readonly code: string;
}

/** The fenced blocks of all pages that readers get: the README and everything below `docs`. */
export function allBlocks(): readonly Block[] {
  const files = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md"));
  return ["README.md", ...files.map((file) => join("docs", file)).sort()].flatMap(blocksOf);
}

/** The fenced blocks of a page, in their order. Also those that are indented, in lists. */
export function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = "";
  let open: { fence: string; language: string; lines: string[] } | null = null;
  for (const line of readFileSync(page, "utf8").split("\n")) {
    const [, fence, language = ""] = /^\s*(`{3,}|~{3,})\s*([^\s`]*)/.exec(line) ?? [];
    if (open && fence?.startsWith(open.fence) && language === "") {
      blocks.push({ page, heading, language: open.language, code: `${open.lines.join("\n")}\n` });
      open = null;
    } else if (open) open.lines.push(line);
    else if (fence !== undefined) open = { fence, language, lines: [] };
    else heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading;
  }
  if (open) throw new Error(`${page}: a block below "${heading}" has no end`);
  return blocks;
}

/** The one block of a page that contains this text. */
export function blockWith(page: string, text: string): string {
  const [block, ...others] = blocksOf(page).filter(({ code }) => code.includes(text));
  if (block === undefined || others.length > 0) {
    throw new Error(`${page} must have one block with this text, and has ${block ? others.length + 1 : 0}: ${text}`);
  }
  return block.code;
}
