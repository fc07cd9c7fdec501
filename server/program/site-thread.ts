import { flushCompileCache } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { reviewSite } from "../../worker/site/review-site.ts";
import type { SiteOverrides } from "../../worker/site/site.ts";
import { importSite } from "./import-site.ts";
import { type FromThread, valid } from "./load-site.ts";

/** A thread that imports one config and ends, so that the next one reads every file of it anew. */
const { file, overrides } = workerData as { readonly file: string; readonly overrides: SiteOverrides };

const post = (message: FromThread) => parentPort!.postMessage(message);

async function load(): Promise<FromThread> {
  try {
    const site = await importSite(file, overrides.origin, (path, state) => post({ path, state }));
    // A site with mistakes may hold what cannot be posted, such as functions.
    return valid({ site, review: reviewSite(site, overrides) }, `${file} is`);
  } catch (error) {
    return { message: (error as Error).message };
  }
}

const loaded = await load();
flushCompileCache(); // what Node has made of TypeScript, too
post(loaded);
