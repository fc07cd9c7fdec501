import { fileURLToPath } from "node:url";
import type { Load } from "../frame/turns.ts";
import { runMeasured } from "../processes/measured-process.ts";

const CLIENT = fileURLToPath(new URL("./stampede-client.ts", import.meta.url));

/** Sends one request on each of the connections at the same moment. */
export async function loadStampede(page: URL, connections: number): Promise<Load> {
  const { output, cpu } = await runMeasured(process.execPath, [CLIENT, page.href, `${connections}`]);
  const { seconds, ...load } = JSON.parse(output) as Omit<Load, "requestsPerSecond" | "clientCpu"> & {
    seconds: number;
  };
  return { ...load, requestsPerSecond: load.requests / seconds, clientCpu: cpu };
}
