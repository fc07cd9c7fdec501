import { readdirSync } from "node:fs";

/** Without what is installed, which differs from one checkout to another. */
const folders = readdirSync(".", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "node_modules")
  .map(({ name }) => name);

/** The paths that a text names in code: those that begin with a folder of this repository. */
export function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`(([\w.-]+)\/[\w./-]*)`/g)];
  return quoted.filter(([, , folder]) => folders.includes(folder!)).map(([, path]) => path!);
}
