import { existsSync } from "node:fs";
import { join } from "node:path";
import type { WranglerConfig } from "./found-tools.ts";

/** An app that is already a worker, according to its wrangler config. */
export interface AppWorker {
  /** The name of its wrangler config. */
  readonly config: WranglerConfig["file"];
  /** The name of the worker; `null` if the config does not have it. */
  readonly name: string | null;
  /** Whether its code exists: a framework may have to build it first. */
  readonly isBuilt: boolean;
}

/** `found`: the wrangler config in the folder. One that names a purge log is the edge's own, and one without `main` runs no code. */
export function appWorkerOf(folder: string, found: WranglerConfig | null): AppWorker | null {
  if (found === null || found.text.includes("PURGE_LOG")) return null;
  const { name, main } = found.file.endsWith(".toml") ? topOfToml(found.text) : topOfJson(found.text);
  if (main === undefined) return null;
  return { config: found.file, name: name ?? null, isBuilt: existsSync(join(folder, main)) };
}

interface TopLevel {
  readonly name?: string | undefined;
  readonly main?: string | undefined;
}

/** The keys above the first table, which is where a wrangler.toml has these two. */
function topOfToml(text: string): TopLevel {
  const top = text.split(/^\s*\[/m)[0]!;
  const textAt = (key: string) => new RegExp(`^\\s*${key}\\s*=\\s*(["'])(.*?)\\1`, "m").exec(top)?.[2];
  return { name: textAt("name"), main: textAt("main") };
}

/** JSON with comments and trailing commas, as wrangler reads it. */
function topOfJson(text: string): TopLevel {
  const withoutComments = text.replaceAll(/("(?:\\.|[^"\\])*")|\/\/.*|\/\*[\s\S]*?\*\//g, "$1");
  const json = withoutComments.replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, "$1");
  try {
    const { name, main } = JSON.parse(json) as Readonly<Record<string, unknown>>;
    const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);
    return { name: textOf(name), main: textOf(main) };
  } catch {
    return /"main"\s*:/.test(text) ? { main: "" } : {}; // wrangler itself reports the fault
  }
}
