/** The worker that `wrangler deploy` deploys: the edge for the site of `tidemark.config.ts`, and the purge log. */
import site from "../tidemark.config.ts";
import { createEdge } from "./edge.ts";

export { PurgeLog } from "./purges/purge-log.ts";

export default createEdge(site);
