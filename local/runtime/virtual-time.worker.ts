/** The simulated edge for a site that is plain data, in the variable `SITE`. */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import { createEdge, withHarness } from "./simulation.worker.ts";

export { PurgeLog } from "./simulation.worker.ts";

let edge: ExportedHandler<EdgeEnv> | undefined;

export default withHarness((env) => {
  edge ??= createEdge((env as EdgeEnv & { SITE: SiteInput }).SITE);
  return edge;
});
