/** The kinds of purge keys that an edge remembers of its stored pages: tags, and paths on whichever host. */
export const SEEN_KINDS = ["#", "path:"] as const;
export type SeenKind = (typeof SEEN_KINDS)[number];

export function seenKindOf(key: string): SeenKind | undefined {
  return SEEN_KINDS.find((kind) => key.startsWith(kind));
}

/** A tag or a path as a purge names it. */
export function seenKeyText(key: string): string {
  return key.slice(seenKindOf(key)!.length);
}
