import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuildOptions } from "esbuild";
import { EDGE_ENTRY } from "../cdn/runtime/bundle.ts";

type Entry = NonNullable<BuildOptions["stdin"]>;

/** What the runtime must know for the code below; the deployed edge does without. */
export const DEV_COMPATIBILITY_FLAGS = ["nodejs_als"] as const;

/** The code of the dev command's edge for the site in a config file. */
export function devEntry(configFile: string): Entry {
  return entry(`import site from ${JSON.stringify(resolve(configFile))};`);
}

/** The same without rules: what is fronted decides by its `Cache-Control`. */
export function plainDevEntry(origin: string): Entry {
  return entry(`const site = ${JSON.stringify({ origin })};`);
}

function entry(site: string): Entry {
  return {
    contents: `
      ${site}
      import { AsyncLocalStorage } from "node:async_hooks";
      import { createDevEdge } from ${JSON.stringify(DEV_EDGE)};
      export { PurgeLog } from ${JSON.stringify(DEV_EDGE)};
      export default createDevEdge(site, new AsyncLocalStorage());`,
    resolveDir: dirname(DEV_EDGE),
    sourcefile: EDGE_ENTRY,
    loader: "ts",
  };
}

/** The module beside this one: in the sources TypeScript, in the package built. */
const DEV_EDGE = fileURLToPath(
  new URL(`./dev-edge.worker.${import.meta.url.endsWith(".ts") ? "ts" : "mjs"}`, import.meta.url),
);
