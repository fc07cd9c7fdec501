/** The simulated edge for a site that is plain data, in the variable `SITE`. */
import type { EdgeEnv, SiteInput } from "tidemark/worker";
import { siteFromJson } from "./harness-protocol.ts";
import { createSimulatedEdge, withHarness } from "./simulation.worker.ts";

export { PurgeLog } from "./simulation.worker.ts";

let edge: ExportedHandler<EdgeEnv> | undefined;

export default withHarness((env) => {
  edge ??= createSimulatedEdge(siteFromJson((env as EdgeEnv & { SITE: unknown }).SITE) as SiteInput);
  return edge;
});
