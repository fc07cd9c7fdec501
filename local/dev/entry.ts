import { dirname, resolve } from "node:path";
import { moduleBeside } from "../../package/own-package.ts";
import { type EntryCode, workerEntry } from "../runtime/bundle.ts";

/** The flags that the runtime needs for the code below. The deployed edge does not need them. */
export const DEV_COMPATIBILITY_FLAGS = ["nodejs_als"] as const;

/** The code of the dev command's edge for the site in a config file. */
export function devEntry(configFile: string): EntryCode {
  return entry(`import site from ${JSON.stringify(resolve(configFile))};`);
}

/** The same for an origin without rules: its `Cache-Control` decides alone. */
export function devEntryWithoutRules(origin: string): EntryCode {
  return entry(`const site = ${JSON.stringify({ origin })};`);
}

function entry(site: string): EntryCode {
  return workerEntry(
    `
      ${site}
      import { AsyncLocalStorage } from "node:async_hooks";
      import { createDevEdge } from ${JSON.stringify(DEV_EDGE)};
      export { PurgeLog } from ${JSON.stringify(DEV_EDGE)};
      export default createDevEdge(site, new AsyncLocalStorage());`,
    dirname(DEV_EDGE),
  );
}

const DEV_EDGE = moduleBeside(import.meta.url, "dev-edge.worker");
