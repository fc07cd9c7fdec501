import { fileURLToPath } from "node:url";
import type { Load } from "../load/load.ts";
import { runMeasured } from "../load/measured-process.ts";

const CLIENT = fileURLToPath(new URL("./stampede-client.ts", import.meta.url));

/** Sends one request on each of the connections at the same moment. */
export async function measureStampede(page: URL, connections: number): Promise<Load> {
  const { output, cpu } = await runMeasured(process.execPath, [CLIENT, page.href, `${connections}`]);
  const { seconds, ...load } = JSON.parse(output) as Omit<Load, "requestsPerSecond" | "generatorCpu"> & {
    seconds: number;
  };
  return { ...load, requestsPerSecond: load.requests / seconds, generatorCpu: cpu };
}
