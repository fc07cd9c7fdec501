import { existsSync } from "node:fs";
import { join } from "node:path";
import { type BuiltConfig, builtConfigIn } from "../../package/built-config.ts";
import { bindsPurgeLog, type WranglerConfig } from "./wrangler-config.ts";

/** An app that is already a worker, according to its wrangler config. */
export interface AppWorker {
  /** Its wrangler config, from the folder: the owner's, or the one that a framework's build has made of it. */
  readonly config: string;
  /** The name of the worker; `null` if the config does not have it. */
  readonly name: string | null;
  /** Its entry as a config names it: a file, or a module that a framework builds it from; `null` for none. */
  readonly main: string | null;
  /** Whether its code exists: a framework may have to build it first. */
  readonly isBuilt: boolean;
}

/**
 * `found`: the wrangler config in the folder. A framework's build fills in what that leaves out, and may do without it. One
 * that binds a purge log is the edge's own. One without `main` runs no code, but if it deploys static files, the edge is a
 * worker beside it.
 */
export function appWorkerOf(folder: string, found: WranglerConfig | null): AppWorker | null {
  const built = builtConfigIn(folder);
  const own = found ?? built;
  if (own === null || bindsPurgeLog(own)) return null;
  const tops = [own, built ?? own].map(topOf);
  const main = tops.find((top) => top.main !== undefined)?.main;
  if (main === undefined) {
    const deploysFiles = tops.some((top) => top.deploysFiles);
    return deploysFiles ? { config: own.file, name: null, main: null, isBuilt: false } : null;
  }
  const name = tops.find((top) => top.name !== undefined)?.name ?? null;
  return { config: (built ?? own).file, name, main, isBuilt: built !== null || existsSync(join(folder, main)) };
}

/** The worker's entry as a wrangler config names it. */
export function mainOf(config: WranglerConfig): string | undefined {
  return topOf(config).main;
}

interface TopLevel {
  readonly name?: string | undefined;
  readonly main?: string | undefined;
  /** Whether it is for static files: those of a worker, or those of Pages. */
  readonly deploysFiles?: boolean;
}

function topOf({ file, text }: WranglerConfig | BuiltConfig): TopLevel {
  return file.endsWith(".toml") ? topOfToml(text) : topOfJson(text);
}

/** The keys above the first table, which is where a wrangler.toml has its own. */
function topOfToml(text: string): TopLevel {
  const top = text.split(/^\s*\[/m)[0]!;
  const textAt = (key: string) => new RegExp(`^\\s*(["']?)${key}\\1\\s*=\\s*(["'])(.*?)\\2`, "m").exec(top)?.[3];
  const ofFiles = /^\s*(["']?)(?:assets|pages_build_output_dir)\1\s*=/m;
  const deploysFiles = /^\s*\[assets\]/m.test(text) || ofFiles.test(top);
  return { name: textAt("name"), main: textAt("main"), deploysFiles };
}

/** JSON with comments and trailing commas, as wrangler reads it. */
function topOfJson(text: string): TopLevel {
  const withoutComments = text.replaceAll(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g, "$1");
  const json = withoutComments.replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, "$1");
  try {
    const top = JSON.parse(json) as Readonly<Record<string, unknown>>;
    const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
    const deploysFiles = "assets" in top || "pages_build_output_dir" in top;
    return { name: textOf(top.name), main: textOf(top.main), deploysFiles };
  } catch {
    return /"main"\s*:/.test(text) ? { main: "" } : {}; // wrangler itself reports the fault
  }
}
