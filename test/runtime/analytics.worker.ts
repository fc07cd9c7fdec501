/**
 * The edge with a dataset that records its points: `GET /points`. `DATASET` says what is bound: it, another kind of thing,
 * or nothing.
 */
import { createEdge } from "../../worker/create-edge.ts";

export { PurgeLog } from "../../worker/purges/log/purge-log.ts";

const points: AnalyticsEngineDataPoint[] = [];
const dataset: AnalyticsEngineDataset = {
  writeDataPoint: (point) => void points.push(point ?? {}),
};
const bound = { dataset, other: {} as AnalyticsEngineDataset, nothing: undefined };
const edge = createEdge({ origin: "https://origin.example" });

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "/points") return Response.json(points);
    const analytics = bound[env.DATASET];
    return edge.fetch!(request, { ...env, ...(analytics && { TIDEMARK_ANALYTICS: analytics }) }, context);
  },
} satisfies ExportedHandler<Parameters<NonNullable<typeof edge.fetch>>[1] & { readonly DATASET: keyof typeof bound }>;
