import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { COMPATIBILITY_DATE } from "../../package/compatibility-date.ts";
import { BenchFailure } from "../frame/bench-failure.ts";
import { type Case, count } from "../frame/case.ts";
import { median } from "../frame/median.ts";
import { printTable } from "../frame/table.ts";
import { listeningProcess } from "../processes/listening-process.ts";
import { cpuSecondsOfTree } from "../processes/process-tree.ts";

/** What `wrangler deploy` deploys. The name of the entry comes before the others. */
const DEPLOYED = fileURLToPath(new URL("../../dist/edge/*.js", import.meta.url));

/** The least worker that has the same log. */
const EMPTY = `import { DurableObject } from "cloudflare:workers";
  export class PurgeLog extends DurableObject {}
  export default { fetch: () => new Response() };`;

export const start: Case<{ readonly rounds: number }> = {
  name: "start",
  description:
    "What the deployed worker costs before its first request: CPU time of the runtime, beside an empty worker.",
  options: [count("--rounds", "how often each worker starts, in turns", 21)],
  needs: [],
  async measure({ rounds }) {
    const texts = globSync(DEPLOYED)
      .sort()
      .map((file) => ({ path: basename(file), contents: readFileSync(file, "utf8") }));
    if (texts.length === 0)
      throw new BenchFailure("There is no worker in dist/edge. Build it with: npm run build:edge");
    const more: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const empty = await msOfStart([{ path: "index.js", contents: EMPTY }]);
      more.push((await msOfStart(texts)) - empty);
    }
    const figures = [Math.min(...more), median(more), Math.max(...more)].map((ms) => `${ms.toFixed(1)} ms`);
    console.log();
    printTable(["CPU beside an empty worker", "least", "median", "most"], [["the deployed worker", ...figures]]);
    return { results: { moreMs: more }, failures: [] };
  },
};

/** The CPU time of the runtime until it is ready, with a worker loaded whose entry is the first module: milliseconds. */
async function msOfStart(modules: readonly { readonly path: string; readonly contents: string }[]): Promise<number> {
  const runtime = new Miniflare({
    modules: modules.map((each) => ({ type: "ESModule", ...each })),
    compatibilityDate: COMPATIBILITY_DATE,
    durableObjects: { PURGE_LOG: { className: "PurgeLog", useSQLite: true } },
  });
  try {
    const { port } = await runtime.ready;
    return cpuSecondsOfTree(listeningProcess(Number(port))) * 1000;
  } finally {
    await runtime.dispose();
  }
}
