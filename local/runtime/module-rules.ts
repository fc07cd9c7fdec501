import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Plugin } from "esbuild";
import type { FileModule } from "./miniflare.ts";

/** Which imports of a worker are files that the runtime has as modules of their own. */
export interface ModuleRule {
  /** Of what an import names. */
  readonly pattern: RegExp;
  readonly type: FileModule["type"];
}

/** A file outside the bundle, by its path. */
export type FilesOutside = Map<string, FileModule & { readonly name: string }>;

/** Marks the plugin's own question for the path. */
const IS_OWN = "own";

/**
 * Leaves the files that a rule names out of a bundle, which imports them by name, and adds them to `files`. `onFile` is told
 * of each before it is read.
 */
export function filesOutside(
  rules: readonly ModuleRule[],
  files: FilesOutside,
  onFile: (path: string) => void,
): Plugin {
  return {
    name: "files-outside",
    setup(build) {
      for (const { pattern, type } of rules) {
        build.onResolve({ filter: pattern }, async ({ path: asked, kind, importer, resolveDir, pluginData }) => {
          if (pluginData === IS_OWN) return undefined;
          const [withoutQuery = ""] = asked.split("?");
          const { path, errors } = await build.resolve(withoutQuery, {
            kind,
            importer,
            resolveDir,
            pluginData: IS_OWN,
          });
          if (errors.length > 0) return { errors };
          onFile(path);
          const contents = await readFile(path);
          const file = files.get(path) ?? { type, contents, name: `${files.size}-${basename(path)}` };
          files.set(path, file);
          return { path: `./${file.name}`, external: true };
        });
      }
    },
  };
}
