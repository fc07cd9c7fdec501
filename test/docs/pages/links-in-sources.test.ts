import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FOLDERS } from "../named-paths.ts";
import { leadsSomewhere, pages } from "./pages.ts";

/** The pages that a text names, with the headings: `docs/http.md#stale`. */
function pagesIn(text: string): string[] {
  return text.match(/(?<![\w./-])docs\/[\w/.-]+\.md(?:#[\w-]+)?/g) ?? [];
}

const folders = FOLDERS.filter((folder) => folder !== "docs");
const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs|py|json|toml|css|html|yml)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    // These tests name pages that are not there, to see that they are missed.
    .filter((file) => !file.startsWith(join("test", "docs"))),
);
const named = files.flatMap((file) => pagesIn(readFileSync(file, "utf8")).map((page) => ({ file, page })));

test("the pages and headings that sources, tests and commands name exist", () => {
  expect(named.length).toBeGreaterThan(300);
  expect(named.filter(({ page }) => !leadsSomewhere("README.md", page))).toEqual([]);
});

test("control: a page and a heading that are not there would be found", () => {
  const text = "as docs/nowhere.md says, and docs/protocol.md#r99. Not: https://a.example/docs/one.md";
  expect(pagesIn(text)).toEqual(["docs/nowhere.md", "docs/protocol.md#r99"]);
  expect(pagesIn(text).filter((page) => leadsSomewhere("README.md", page))).toEqual([]);
});

test("every picture is shown on a page", () => {
  const pictures = readdirSync("docs/pictures").filter((name) => /\.(png|svg)$/.test(name));
  expect(pictures.length).toBeGreaterThan(5);
  expect(pictures.filter((name) => !pages.some(({ text }) => text.includes(`pictures/${name}`)))).toEqual([]);
});
