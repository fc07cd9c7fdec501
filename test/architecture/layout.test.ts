import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FOLDERS } from "../docs/named-paths.ts";

/** The rows of the table "Layout" in CONTRIBUTING.md, by their folders. */
const section = readFileSync("CONTRIBUTING.md", "utf8").split("\n## ")[1]!;
const rows = section.split("\n").filter((line) => line.startsWith("| `"));

function foldersIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

test("every folder at the top has a row, but for the docs and those of services", () => {
  const folders = FOLDERS.filter((name) => !name.startsWith(".") && name !== "docs");
  expect(folders.filter((name) => !rows.some((row) => row.split("|")[1]!.includes(`\`${name}/`)))).toEqual([]);
});

test.for(["worker/purges", "wire", "sdk", "server", "cdn", "setup", "traffic"])(
  "the row of %s names all its folders",
  (folder) => {
    const row = rows.find((each) => each.startsWith(`| \`${folder}/\` |`));
    expect(row).toBeDefined();
    expect(foldersIn(folder).filter((name) => !row!.includes(`\`${name}/\``))).toEqual([]);
  },
);
