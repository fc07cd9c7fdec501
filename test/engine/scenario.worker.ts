/**
 * The simulated edge for many scenarios, one after the other in one runtime. Each begins with an edge of its own, which
 * shares no memory with the last one, and with a purge log of its own.
 */
import type { EdgeEnv } from "tidemark/worker";
import { createEdge, withHarness } from "../../cdn/runtime/simulation.worker.ts";
import type { Beginning } from "./beginning.ts";

export { PurgeLog } from "../../cdn/runtime/simulation.worker.ts";

let edge: ExportedHandler<EdgeEnv> | undefined;
let log = "";

const edgeWithHarness = withHarness(() => {
  if (!edge) throw new Error("no scenario has begun");
  return edge;
});

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/_scenario") {
      return edgeWithHarness.fetch!(request, { ...env, PURGE_LOG: ofScenario(env.PURGE_LOG) }, context);
    }
    const beginning = (await request.json()) as Beginning;
    if (beginning.site) edge = createEdge(beginning.site);
    log = beginning.log;
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<EdgeEnv>;

function ofScenario(logs: EdgeEnv["PURGE_LOG"]): EdgeEnv["PURGE_LOG"] {
  const named = { idFromName: () => logs.idFromName(log), get: (id: DurableObjectId) => logs.get(id) };
  return named as unknown as EdgeEnv["PURGE_LOG"];
}
