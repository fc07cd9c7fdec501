/** The kinds of purge keys that an edge remembers of its stored pages: tags, and paths on whichever host. */
const SEEN_KINDS = ["#", "path:"] as const;
export type SeenKind = (typeof SEEN_KINDS)[number];

export function seenKindOf(key: string): SeenKind | undefined {
  return SEEN_KINDS.find((kind) => key.startsWith(kind));
}
