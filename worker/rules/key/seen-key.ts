import type { StoredHead } from "../storing/stored-response.ts";
import { readPurgeKey, urlPurgeKeys } from "./purge-key.ts";

/** The kinds of purge keys of which an edge remembers which ones its stored pages have had. */
export const SEEN_KINDS = ["tag", "path"] as const;
export type SeenKind = (typeof SEEN_KINDS)[number];

/** The kind of a key that is remembered; `null` for other keys. */
export function seenKindOf(key: string): SeenKind | null {
  if (key.startsWith("#")) return "tag";
  return key.startsWith("path:") ? "path" : null;
}

/** The tags and the paths of a stored response: a page counts as seen on whichever host it was. */
export function seenKeysOf({ key, givenPurgeKeys }: Pick<StoredHead, "key" | "givenPurgeKeys">): string[] {
  return [...givenPurgeKeys, ...urlPurgeKeys(key)].filter((each) => seenKindOf(each) !== null);
}

/** A tag or a path as a purge names it. */
export function seenKeyText(key: string): string {
  const item = readPurgeKey(key);
  if (item?.kind === "tag") return item.tag;
  return item?.kind === "path" ? item.pathAndQuery : key;
}
