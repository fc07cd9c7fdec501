/** The edge with a dataset that records its points: `GET /points`. Without `HAS_DATASET` the binding is missing. */
import { createEdge } from "../../worker/create-edge.ts";

export { PurgeLog } from "../../worker/purges/log/purge-log.ts";

const points: AnalyticsEngineDataPoint[] = [];
const dataset: AnalyticsEngineDataset = {
  writeDataPoint: (point) => void points.push(point ?? {}),
};
const edge = createEdge({ origin: "https://origin.example" });

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "/points") return Response.json(points);
    return edge.fetch!(request, env.HAS_DATASET ? { ...env, TIDEMARK_ANALYTICS: dataset } : env, context);
  },
} satisfies ExportedHandler<Parameters<NonNullable<typeof edge.fetch>>[1] & { readonly HAS_DATASET?: boolean }>;
