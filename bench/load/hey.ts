import type { DebianProgram } from "../debian-programs.ts";
import type { CountedLoadSettings, Load } from "./load.ts";
import { figureIn, runMeasured } from "./measured-process.ts";

export const HEY: DebianProgram = { program: "hey", package: "hey" };

/** `hey -n <requests> -c <connections>`. It reports times in steps of 0.1 ms. */
export async function measureWithHey(url: URL, { connections, requests }: CountedLoadSettings): Promise<Load> {
  const { output, cpu } = await runMeasured("hey", ["-n", `${requests}`, "-c", `${connections}`, url.href]);
  return {
    requests,
    requestsPerSecond: figureIn(output, /Requests\/sec:\s+([\d.]+)/),
    p50Ms: figureIn(output, /50% in ([\d.]+) secs/) * 1000,
    p99Ms: figureIn(output, /99% in ([\d.]+) secs/) * 1000,
    failures: requests - (figureIn(output, /\[200\]\s+(\d+) responses/) || 0),
    generatorCpu: cpu,
  };
}
