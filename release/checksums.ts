import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";

/** The hash of each file below a folder, as `sha256sum --check` reads them. */
export async function checksums(folder: string): Promise<string[]> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const lines: string[] = [];
  for (const file of files) {
    const hash = createHash("sha256").update(await readFile(join(folder, file)));
    lines.push(`${hash.digest("hex")}  ${file}`);
  }
  return lines;
}
