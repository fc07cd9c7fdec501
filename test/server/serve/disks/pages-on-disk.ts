import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../suite/until.ts";

/**
 * Resolves when the cache of a server has this text in one of its files: a page is written behind its answer, and a disk
 * may take its time. `cache` is the folder of `--cache`.
 */
export function untilOnDisk(cache: string, text: string): Promise<void> {
  return until(() => isOnDisk(cache, text));
}

/** Whether it has now. */
export function isOnDisk(cache: string, text: string): boolean {
  return readdirSync(join(cache, "pages"), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.parentPath.includes("files-"))
    .some((each) => {
      try {
        return readFileSync(join(each.parentPath, each.name)).includes(text);
      } catch {
        return false; // It was deleted since it was listed.
      }
    });
}
