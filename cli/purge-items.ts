/** What a purge names. */
export interface PurgeItems {
  readonly urls: readonly string[];
  readonly tags: readonly string[];
  readonly prefixes: readonly string[];
  readonly hosts: readonly string[];
}

/** Nothing was named, or a line that is no item. The message says how to write it. */
export class PurgeItemsError extends Error {
  override readonly name = "PurgeItemsError";
}

/** How a line begins that is no URL. */
const KINDS = { "tag:": "tags", "prefix:": "prefixes", "host:": "hosts" } as const;

/**
 * Reads items, one on a line: what begins with `/`, `http://` or `https://` is a URL, `tag:NAME` is a tag, `prefix:/PATH`
 * a prefix, `host:NAME` a host. Spaces around it do not count, nor do empty lines and those that begin with `#`. Throws
 * `PurgeItemsError` at any other line: taken for a tag, a mistyped URL would purge nothing in silence.
 */
export function readPurgeItems(text: string): PurgeItems {
  const items = { urls: [] as string[], tags: [] as string[], prefixes: [] as string[], hosts: [] as string[] };
  for (const [index, line] of text.split("\n").entries()) {
    const item = line.trim();
    if (item === "" || item.startsWith("#")) continue;
    const kind = Object.entries(KINDS).find(([beginning]) => item.startsWith(beginning));
    if (/^(\/|https?:\/\/)/i.test(item)) items.urls.push(item);
    else if (kind) items[kind[1]].push(item.slice(kind[0].length));
    else {
      throw new PurgeItemsError(
        `standard input, line ${index + 1}: ${JSON.stringify(item)} is neither a URL (it begins with /, http:// or ` +
          "https://) nor a tag (tag:NAME), a prefix (prefix:/PATH) or a host (host:NAME). Nothing was purged.",
      );
    }
  }
  return items;
}
