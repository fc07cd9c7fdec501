import { join } from "node:path";

/** Where `tidemark serve` keeps what it has to keep, without --cache. */
export const DEFAULT_CACHE = ".tidemark/serve";

/** The folder of the purge log in the folder of --cache. */
export function logFolderIn(cache: string): string {
  return join(cache, "log");
}
