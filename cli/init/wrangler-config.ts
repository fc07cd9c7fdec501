import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { WRANGLER_FILES } from "../../package/wrangler-files.ts";
import { withoutMark } from "../../wire/text/without-mark.ts";
import { ProjectFileError } from "./project-file-error.ts";

/** The project's wrangler config. */
export interface WranglerConfig {
  readonly file: (typeof WRANGLER_FILES)[number];
  readonly text: string;
}

/** Whether it binds a purge log, and is so the edge's own. A line that is a comment does not count. */
export function bindsPurgeLog({ text }: { readonly text: string }): boolean {
  return text.replaceAll(/^[ \t]*(?:#|\/\/).*$/gm, "").includes("PURGE_LOG");
}

/** The one that wrangler reads; `null` if there is none. */
export function wranglerConfigIn(folder: string): WranglerConfig | null {
  const file = WRANGLER_FILES.find((each) => existsSync(join(folder, each)));
  if (file === undefined) return null;
  try {
    return { file, text: withoutMark(readFileSync(join(folder, file), "utf8")) };
  } catch (cause) {
    throw new ProjectFileError(join(folder, file), cause);
  }
}
