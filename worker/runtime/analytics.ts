import { numberAt } from "../metrics/count-tree.ts";
import type { Report } from "../metrics/reports.ts";

/** The counts in `double1`, `double2` and so on. */
const COUNTS = ["requests", "fromCache", "origin.asked", "origin.failed", "bytes.fromCache", "bytes.fromOrigin"];

/** Writes a report to Workers Analytics Engine as one data point, whose index and `blob1` are the PoP. */
export function writeAnalytics(dataset: AnalyticsEngineDataset, { pop, counts }: Report): void {
  dataset.writeDataPoint({ indexes: [pop], blobs: [pop], doubles: COUNTS.map((path) => numberAt(counts, path)) });
}
