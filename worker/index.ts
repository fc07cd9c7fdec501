/** The worker that `wrangler deploy` deploys: the edge for the site in `tidemark.config.ts`, and the purge log. */
import { createEdge, PurgeLog } from "tidemark/worker";
import site from "../tidemark.config.ts";

export { PurgeLog };
export default createEdge(site);
