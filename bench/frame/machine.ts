import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, release, type } from "node:os";

/** The machine that the figures were measured on. Without it they mean nothing. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly system: string;
  readonly node: string;
  readonly workerd: string;
  /** The load average of the minute before: how busy the machine was with other work. */
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

/** workerd is a dependency of miniflare, so it is resolved from there. */
function workerdVersion(): string {
  const ofMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  const manifest = readFileSync(ofMiniflare.resolve("workerd/package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
