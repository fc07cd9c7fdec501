import { fileURLToPath } from "node:url";
import type { Load, LoadSettings } from "./load.ts";
import { runMeasured } from "./measured-process.ts";

const AUTOCANNON = fileURLToPath(import.meta.resolve("autocannon"));

export async function measureWithAutocannon(url: URL, { connections, seconds }: LoadSettings): Promise<Load> {
  const options = ["-c", `${connections}`, "-d", `${seconds}`, "--json"];
  const { output, cpu } = await runMeasured(process.execPath, [AUTOCANNON, ...options, url.href]);
  const { requests, latency, duration, errors, non2xx } = JSON.parse(output) as {
    requests: { total: number };
    latency: { p50: number; p99: number };
    duration: number;
    errors: number;
    non2xx: number;
  };
  return {
    requests: requests.total,
    requestsPerSecond: requests.total / duration,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    failures: errors + non2xx,
    generatorCpu: cpu,
  };
}
