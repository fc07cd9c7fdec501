import { join } from "node:path";

/** Where `tidemark serve` keeps its data without --cache. */
export const DEFAULT_CACHE = ".tidemark/serve";

/** The purge log's folder within that of --cache. */
export function logFolderIn(cache: string): string {
  return join(cache, "log");
}
