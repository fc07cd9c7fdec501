/** The kinds of purge keys that an edge remembers of its stored pages: tags, and paths on whichever host. */
const SEEN_KINDS = ["#", "path:"] as const;
export type SeenKind = (typeof SEEN_KINDS)[number];

export function seenKindOf(key: string): SeenKind | undefined {
  return SEEN_KINDS.find((kind) => key.startsWith(kind));
}

/** The key under which every page is remembered that a purge of this key reaches; `undefined` if there is none. */
export function seenAs(purgeKey: string): string | undefined {
  const key = purgeKey.replace(/^\/\/[^/]*/, "path:");
  return seenKindOf(key) && key;
}
