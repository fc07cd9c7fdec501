import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DebianProgram } from "../debian-programs.ts";
import { inTemporaryFolder } from "../processes/temporary-folder.ts";
import type { CountedLoadSettings, Load } from "./load.ts";
import { figureIn, runMeasured } from "./measured-process.ts";

export const AB: DebianProgram = { program: "ab", package: "apache2-utils" };

interface AbSettings extends CountedLoadSettings {
  /** Without keep-alive, each request comes on a connection of its own. */
  readonly keepAlive: boolean;
}

/** `ab -n <requests> -c <connections>`, with `-k` to keep connections alive. It speaks HTTP/1.0. */
export async function measureWithAb(url: URL, { connections, requests, keepAlive }: AbSettings): Promise<Load> {
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, "percentiles.csv");
    const options = ["-q", ...(keepAlive ? ["-k"] : []), "-c", `${connections}`, "-n", `${requests}`, "-e", file];
    const { output, cpu } = await runMeasured("ab", [...options, url.href]);
    const percentiles = await readFile(file, "utf8");
    return {
      requests,
      requestsPerSecond: requests / figureIn(output, /Time taken for tests:\s+([\d.]+)/),
      p50Ms: figureIn(percentiles, /^50,([\d.]+)/m),
      p99Ms: figureIn(percentiles, /^99,([\d.]+)/m),
      failures: figureIn(output, /Failed requests:\s+(\d+)/) + (figureIn(output, /Non-2xx responses:\s+(\d+)/) || 0),
      generatorCpu: cpu,
    };
  });
}
