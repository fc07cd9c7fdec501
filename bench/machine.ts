import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, release, type } from "node:os";

/** What the figures were measured on. A figure without it means nothing. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly system: string;
  readonly node: string;
  readonly workerd: string;
  /** Processes that wanted a core in the minute before: what else the machine was busy with. */
  readonly loadBefore: number;
}

export function thisMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    workerd: workerdVersion(),
    loadBefore: Number(loadavg()[0]?.toFixed(2)),
  };
}

/** The runtime is miniflare's dependency, not ours. */
function workerdVersion(): string {
  const ofMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const manifest = readFileSync(ofMiniflare.resolve("workerd/package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
