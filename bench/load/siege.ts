import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DebianProgram } from "../debian-programs.ts";
import { inTemporaryFolder } from "../processes/temporary-folder.ts";
import type { CountedLoadSettings, Load } from "./load.ts";
import { runMeasured } from "./measured-process.ts";

export const SIEGE: DebianProgram = { program: "siege", package: "siege" };

/** Siege's own defaults, except that it sends GET, and does not parse the page to request what it refers to. */
const SETTINGS = `
gmethod = GET
parser = false
protocol = HTTP/1.1
connection = close
accept-encoding = gzip, deflate
limit = 255
json_output = true
quiet = true
logging = false
`;

/** `siege -b -c <connections>`, with a new connection for each request. Siege does not report percentiles. */
export async function measureWithSiege(url: URL, { connections, requests }: CountedLoadSettings): Promise<Load> {
  return inTemporaryFolder(async (folder) => {
    const settings = join(folder, "siege.conf");
    await writeFile(settings, SETTINGS);
    const each = Math.ceil(requests / connections);
    const options = ["-R", settings, "-b", "-c", `${connections}`, "-r", `${each}`, url.href];
    // Siege writes a file of its own settings into the home folder.
    const { output, cpu } = await runMeasured("env", [`HOME=${folder}`, "siege", ...options]);
    const report = JSON.parse(output.slice(output.indexOf("{"), output.lastIndexOf("}") + 1)) as {
      transactions: number;
      successful_transactions: number;
      elapsed_time: number;
    };
    return {
      requests: report.transactions,
      requestsPerSecond: report.transactions / report.elapsed_time,
      p50Ms: Number.NaN,
      p99Ms: Number.NaN,
      failures: each * connections - report.successful_transactions,
      generatorCpu: cpu,
    };
  });
}
