import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { WranglerConfig } from "./wrangler-config.ts";

/** An app that is already a worker, according to its wrangler config. */
export interface AppWorker {
  /** Its wrangler config, from the folder: the owner's, or the one that a framework's build has made of it. */
  readonly config: string;
  /** The name of the worker; `null` if the config does not have it. */
  readonly name: string | null;
  /** Its entry as the owner's config names it: a file, or a module that a framework builds it from; `null` for none. */
  readonly main: string | null;
  /** Whether its code exists: a framework may have to build it first. */
  readonly isBuilt: boolean;
}

/**
 * `found`: the wrangler config in the folder. One that names a purge log is the edge's own. One without `main` runs no code,
 * but if it deploys static files, the edge is a worker beside it.
 */
export function appWorkerOf(folder: string, found: WranglerConfig | null): AppWorker | null {
  if (found === null || found.text.includes("PURGE_LOG")) return null;
  const { name, main, deploysFiles } = topOf(found);
  if (main === undefined) return deploysFiles ? { config: found.file, name: null, main: null, isBuilt: false } : null;
  const built = builtConfigIn(folder);
  const isBuilt = built !== null || existsSync(join(folder, main));
  return { config: built ?? found.file, name: name ?? null, main, isBuilt };
}

/** The config to which a framework's build redirects wrangler, from the folder, with slashes; `null` for none. */
function builtConfigIn(folder: string): string | null {
  const redirect = resolve(folder, ".wrangler/deploy/config.json");
  try {
    const { configPath } = JSON.parse(readFileSync(redirect, "utf8")) as { readonly configPath: string };
    const built = resolve(dirname(redirect), configPath);
    return existsSync(built) ? relative(resolve(folder), built).replaceAll(sep, "/") : null;
  } catch {
    return null; // if the file is there, wrangler itself reports its fault
  }
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

function topOf({ file, text }: WranglerConfig): TopLevel {
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
