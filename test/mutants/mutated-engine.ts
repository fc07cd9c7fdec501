import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";
import { build, type Plugin } from "esbuild";
import type { startMemoryEngine } from "../engine/memory-engine.ts";
import type { World } from "../simulation/world.ts";
import type { Mutation } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** What the scenarios and the simulation run on, over sources of its own: nothing in it is shared with another. */
export interface MutatedEngine {
  readonly startMemoryEngine: typeof startMemoryEngine;
  readonly World: typeof World;
}

const ENTRY = {
  contents: `
    export { startMemoryEngine } from "./test/engine/memory-engine.ts";
    export { World } from "./test/simulation/world.ts";`,
  resolveDir: ROOT,
  loader: "ts",
} as const;

const requireHere = createRequire(import.meta.url);

/**
 * Bundles the sources with one mutation, or with none, and runs the bundle. Packages stay outside of it: they are never
 * mutated, and so they are loaded once. Rejects if the mutation cannot be made.
 */
export async function mutatedEngine(mutation: Mutation | null): Promise<MutatedEngine> {
  let isMade = mutation === null;
  const plugins = mutation === null ? [] : [mutate(mutation, () => (isMade = true))];
  const { outputFiles } = await build({
    stdin: ENTRY,
    absWorkingDir: ROOT,
    plugins,
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    packages: "external",
    logLevel: "silent",
  });
  if (!isMade) throw new Error(`${mutation!.file} is not among the sources that run in memory`);
  const module = { exports: {} as MutatedEngine };
  compileFunction(outputFiles[0]!.text, ["module", "require"], { filename: "mutated-engine" })(module, requireHere);
  return module.exports;
}

/** Puts the wrong piece in its place. */
function mutate({ file, from, to }: Mutation, isMade: () => void): Plugin {
  const path = join(ROOT, file);
  return {
    name: "mutate",
    setup({ onLoad }) {
      onLoad({ filter: new RegExp(`${file.replaceAll(".", "\\.")}$`) }, async (args) => {
        if (args.path !== path) return undefined;
        const pieces = (await readFile(path, "utf8")).split(from);
        if (pieces.length !== 2) {
          const text = `${file} must have this text once, and has it ${pieces.length - 1} times: ${from}`;
          return { errors: [{ text }] };
        }
        isMade();
        return { contents: pieces.join(to), loader: "ts" };
      });
    },
  };
}
