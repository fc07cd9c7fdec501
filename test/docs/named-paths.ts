import { readdirSync, readFileSync } from "node:fs";

/** What is installed, built or left behind by a run differs from one checkout to another. */
const ignored = readFileSync(".gitignore", "utf8")
  .split("\n")
  .map((line) => line.replaceAll("/", ""));

/** The folders of this repository, at its top. */
export const FOLDERS: readonly string[] = readdirSync(".", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== ".git" && !ignored.includes(entry.name))
  .map(({ name }) => name);

/** The paths that a text names in code: those that begin with a folder of this repository. */
export function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`(([\w.-]+)\/[\w./-]*)`/g)];
  return quoted.filter(([, , folder]) => FOLDERS.includes(folder!)).map(([, path]) => path!);
}
