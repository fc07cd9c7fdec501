import { fileURLToPath } from "node:url";
import { bundleWorker } from "../../local/runtime/bundle.ts";

/** The workers in this folder. */
export type BenchWorker = "edge" | "constant" | "reading" | "default-cache";

export function bundleBenchWorker(worker: BenchWorker): Promise<string> {
  return bundleWorker(fileURLToPath(new URL(`${worker}.worker.ts`, import.meta.url)));
}
