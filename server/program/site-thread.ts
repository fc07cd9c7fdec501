import { once } from "node:events";
import { flushCompileCache } from "node:module";
import { parentPort } from "node:worker_threads";
import { reviewSite } from "../../worker/site/review-site.ts";
import { importSite } from "./import-site.ts";
import { type FromThread, type ToThread, valid } from "./load-site.ts";

/** A thread that imports configs, one at a time, and is ended so that the next ones read every file anew. */

const post = (message: FromThread) => parentPort!.postMessage(message);

async function load({ file, overrides }: ToThread): Promise<FromThread> {
  try {
    const { site, isAlone } = await importSite(file, overrides.origin, (path, state) => post({ path, state }));
    // A site with mistakes may hold what cannot be posted, such as functions.
    return { ...valid({ site, review: reviewSite(site, overrides) }, `${file} is`), isAlone };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

for (;;) {
  const [task] = (await once(parentPort!, "message")) as [ToThread];
  const loaded = await load(task);
  flushCompileCache(); // what Node has made of TypeScript, too
  post(loaded);
}
