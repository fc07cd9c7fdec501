import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** The manifest of this package, installed or in its repository: in both its `exports` name the file. */
export const ownPackage = createRequire(import.meta.url)("tidemark/package.json") as {
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** Only in an archive that brings its own Node (ADR 0051): the optional peers that are bundled. It cannot have others. */
  readonly carries?: readonly string[];
};

/** The path of a module in the same folder as another: TypeScript in the repository, built in the package. */
export function moduleBeside(url: string, name: string): string {
  const extension = url.endsWith(".ts") ? "ts" : "mjs";
  return fileURLToPath(new URL(`./${name}.${extension}`, url));
}
