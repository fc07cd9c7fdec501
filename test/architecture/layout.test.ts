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

test.for(["worker/purges", "worker/control", "wire", "sdk", "server", "local", "cli", "tools"])(
  "the row of %s names all its folders",
  (folder) => {
    const row = rows.find((each) => each.startsWith(`| \`${folder}/\` |`));
    expect(row).toBeDefined();
    expect(foldersIn(folder).filter((name) => !row!.includes(`\`${name}/\``))).toEqual([]);
  },
);

test("no folder holds more than 20 files", () => {
  const folders = FOLDERS.flatMap((top) =>
    readdirSync(top, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|mjs|py|json|css|html)$/.test(entry.name))
      .map(({ parentPath }) => parentPath),
  );
  const crowded = [...Map.groupBy(folders, (folder) => folder)].filter(([, files]) => files.length > 20);
  expect(folders.length).toBeGreaterThan(1000);
  expect(crowded.map(([folder]) => folder)).toEqual([]);
});

test("every dependency has a row that says why, and no other package has one", () => {
  const declared = ["package.json", "tools/package.json"].flatMap((file) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(file, "utf8")) as Record<string, object>;
    return Object.keys({ ...dependencies, ...devDependencies });
  });
  const section = readFileSync("CONTRIBUTING.md", "utf8").split("\n## Why each dependency?\n")[1]!;
  const named = [...section.matchAll(/^\| (?!package \||---)([^|]+) \|/gm)].flatMap(([, names]) => names!.split(", "));
  expect(named.sort()).toEqual(declared.sort());
});
