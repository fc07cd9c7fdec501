import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "tsdown";
import { edgeFor } from "../../tsdown.edge.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";

/** The modules of a deployable worker: `index.js`, and the code of each that it imports by file name. */
export interface BuiltEdge {
  readonly script: string;
  readonly modules: Readonly<Record<string, string>>;
}

/** The worker in a folder that a build has written to. */
export function readBuiltEdge(folder: string): BuiltEdge {
  const names = readdirSync(folder).filter((name) => name.endsWith(".js"));
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const modules = Object.fromEntries(names.filter((name) => name !== "index.js").map((name) => [name, read(name)]));
  return { script: read("index.js"), modules };
}

/** The worker that `npm run build:edge` would build for these rules. Rejects with what the build says if it fails. */
export async function buildEdge(rules: object): Promise<BuiltEdge> {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-edge-"));
  const site = { origin: "https://origin.example.test", ...rules } as SiteInput;
  const settings = { cwd: resolve("."), outDir: folder, clean: false, config: false, logLevel: "silent" } as const;
  try {
    await build({ ...edgeFor(async () => site), ...settings });
    return readBuiltEdge(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
