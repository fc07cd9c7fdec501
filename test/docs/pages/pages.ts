import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface Page {
  /** From the project's root. */
  readonly path: string;
  readonly text: string;
  /** The blocks of code, each with its language. */
  readonly blocks: readonly { readonly language: string; readonly code: string }[];
  /** The anchors of its headings, as GitHub makes them. */
  readonly anchors: readonly string[];
}

/** README.md, CONTRIBUTING.md and every page below docs/. */
export const pages: readonly Page[] = ["README.md", "CONTRIBUTING.md", ...markdownBelow("docs")].map(readPage);

const pageAt = new Map(pages.map((page) => [page.path, page]));

export function pageNamed(path: string): Page {
  const page = pageAt.get(path);
  if (page === undefined) throw new Error(`There is no page ${path}.`);
  return page;
}

/** The text of a page that people write: without blocks of code, which tests run, and without what a command writes. */
export function handWritten(text: string): string {
  const generated = /^<!-- (?:run|generated): (?:(?!^<!--).)*^<!-- end -->$/gms;
  const code = /^ *```.*?^ *```$/gms;
  return text
    .replace(generated, "")
    .replace(code, "")
    .replace(/<!--.*?-->/gs, "");
}

/** The words of a text: whatever stands between spaces and has a letter or a digit. */
export function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Where the links and pictures of a text lead. */
export function linksIn(text: string): string[] {
  const links = text.matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"\s]+)"/g);
  return [...links].map(([, link, source]) => link ?? source!);
}

/** Whether a link of a page leads to a file and a heading of this project, or away from it. */
export function leadsSomewhere(from: string, link: string): boolean {
  if (/^https?:/.test(link)) return true;
  const [file, anchor] = link.split("#") as [string, string?];
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(join(ROOT, path))) return false;
  return anchor === undefined || (pageAt.get(path)?.anchors.includes(anchor) ?? false);
}

function markdownBelow(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith(".md"));
  return files.map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), "utf8");
  const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
  const prose = text.replace(/^```.*?^```$/gms, "");
  const anchors = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
  return { path, text, blocks, anchors };
}

function anchorOf(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "");
  return words.replaceAll(" ", "-");
}
