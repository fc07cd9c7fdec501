import { readFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";

/** The wrangler config that a framework's build has made. */
export interface BuiltConfig {
  /** From the folder, with slashes. */
  readonly file: string;
  readonly text: string;
}

/** The one to which the build in this folder redirects wrangler; `null` for none. */
export function builtConfigIn(folder: string): BuiltConfig | null {
  const redirect = resolve(folder, ".wrangler/deploy/config.json");
  try {
    const { configPath } = JSON.parse(readFileSync(redirect, "utf8")) as { readonly configPath: string };
    const built = resolve(dirname(redirect), configPath);
    return { file: relative(resolve(folder), built).replaceAll(sep, "/"), text: readFileSync(built, "utf8") };
  } catch {
    return null; // if the file is there, wrangler itself reports its fault
  }
}
