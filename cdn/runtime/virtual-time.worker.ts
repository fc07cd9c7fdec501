/** The simulated edge for a site that is plain data, in the variable `SITE`. */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import { createEdge, withDoor } from "./simulation.worker.ts";

export { PurgeLog } from "./simulation.worker.ts";

let edge: ExportedHandler<EdgeEnv> | undefined;

export default withDoor((env) => {
  edge ??= createEdge((env as EdgeEnv & { SITE: SiteInput }).SITE);
  return edge;
});
