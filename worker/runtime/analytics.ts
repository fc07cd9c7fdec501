import { numberAt } from "../metrics/count-tree.ts";
import type { Report } from "../metrics/reports.ts";

/** The counts in `double1`, `double2` and so on. */
const COUNTS = ["requests", "fromCache", "origin.asked", "origin.failed", "bytes.fromCache", "bytes.fromOrigin"];

/**
 * Writes reports to Workers Analytics Engine, each as one data point, whose index and `blob1` are the PoP. `warn` gets one
 * line if the binding does not take them, which must keep no report from the ledger.
 */
export function analyticsWriter(dataset: AnalyticsEngineDataset, warn: (line: string) => void) {
  let hasWarned = false;
  return ({ pop, counts }: Report): void => {
    try {
      dataset.writeDataPoint({ indexes: [pop], blobs: [pop], doubles: COUNTS.map((path) => numberAt(counts, path)) });
    } catch (error) {
      if (!hasWarned) warn(`TIDEMARK_ANALYTICS takes no data points: ${error}`);
      hasWarned = true;
    }
  };
}
