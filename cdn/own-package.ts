import { createRequire } from "node:module";

/** What this package says of itself, whether it is installed or worked on: its `exports` name the file. */
export const ownPackage = createRequire(import.meta.url)("tidemark/package.json") as {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};
