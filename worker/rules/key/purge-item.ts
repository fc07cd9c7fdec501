import { EVERYTHING_PURGE_KEY } from "./cache-key.ts";

/**
 * A purge key as a person reads it, and as `tidemark purge -` takes it: `/about`, `https://www.example.com/about` (which
 * means http, too), `tag:song:42`, `prefix:/shop`, `prefix:www.example.com/shop`, `host:www.example.com`, `everything`.
 */
export function purgedItem(key: string): string {
  if (key === EVERYTHING_PURGE_KEY) return "everything";
  if (key.startsWith("#")) return `tag:${key.slice(1)}`;
  if (key.startsWith("path:")) return key.slice("path:".length);
  if (key.startsWith("//")) return `https:${key}`;
  if (key.startsWith("host:") && key.includes("/")) return `prefix:${key.slice("host:".length)}`;
  return key;
}
