/** The items that a purge names. */
export interface PurgeItems {
  readonly urls: readonly string[];
  readonly tags: readonly string[];
  readonly prefixes: readonly string[];
  readonly hosts: readonly string[];
}

/** No item was named, or a line is not an item. The message says how to write one. */
export class PurgeItemsError extends Error {
  override readonly name = "PurgeItemsError";
}

/** The prefixes of lines that are not URLs. */
const KIND_OF_PREFIX = { "tag:": "tags", "prefix:": "prefixes", "host:": "hosts" } as const;

/**
 * Reads items, one on each line. A line that begins with `/`, `http://` or `https://` is a URL, `tag:NAME` is a tag,
 * `prefix:/PATH` a prefix and `host:NAME` a host. Surrounding spaces, empty lines and lines that begin with `#` do not
 * count. Throws `PurgeItemsError` for any other line: if a mistyped URL counted as a tag, it would silently purge
 * nothing.
 */
export function readPurgeItems(text: string): PurgeItems {
  const items = { urls: [] as string[], tags: [] as string[], prefixes: [] as string[], hosts: [] as string[] };
  for (const [index, line] of text.split("\n").entries()) {
    const item = line.trim();
    if (item === "" || item.startsWith("#")) continue;
    const kind = Object.entries(KIND_OF_PREFIX).find(([prefix]) => item.startsWith(prefix));
    if (/^(\/|https?:\/\/)/i.test(item)) items.urls.push(item);
    else if (kind) items[kind[1]].push(item.slice(kind[0].length));
    else {
      throw new PurgeItemsError(
        `standard input, line ${index + 1}: ${JSON.stringify(item)} is neither a URL (beginning with /, http:// or ` +
          "https://) nor a tag (tag:NAME), a prefix (prefix:/PATH) or a host (host:NAME). Nothing was purged.",
      );
    }
  }
  return items;
}
