import { flushCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { reviewSite } from "../../worker/site/review-site.ts";
import type { SiteOverrides } from "../../worker/site/site.ts";
import { importedFiles, importSite } from "./import-site.ts";
import type { LoadedSite } from "./load-site.ts";

/** A thread that imports one config and ends, so that the next one reads every file of it anew. */
const { file, overrides } = workerData as { readonly file: string; readonly overrides: SiteOverrides };

async function load(): Promise<LoadedSite | { readonly message: string }> {
  try {
    const site = await importSite(file, overrides.origin);
    return { site, review: reviewSite(site, overrides), files: importedFiles() };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

const loaded = await load();
flushCompileCache(); // what Node has made of TypeScript, too
parentPort!.postMessage(loaded);
