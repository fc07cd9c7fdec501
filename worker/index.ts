/** The worker that `wrangler deploy` deploys: the edge for the site in `tidemark.config.ts`, and the purge log. */
import site from "virtual:checked-site";
import { createCheckedEdge } from "./create-edge.ts";

export { PurgeLog } from "./purges/log/purge-log.ts";
export default createCheckedEdge(site);
