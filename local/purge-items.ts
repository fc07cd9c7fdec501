/** What a purge names. */
export interface PurgeItems {
  readonly urls: readonly string[];
  readonly tags: readonly string[];
}

/** Nothing was named, or a line that is neither URL nor tag. The message says how to write it. */
export class PurgeItemsError extends Error {
  override readonly name = "PurgeItemsError";
}

const TAG = "tag:";

/**
 * Reads items, one on a line: what begins with `/`, `http://` or `https://` is a URL, `tag:NAME` is a tag. Spaces around
 * it do not count, nor do empty lines and those that begin with `#`. Throws `PurgeItemsError` at any other line: taken
 * for a tag, a mistyped URL would purge nothing in silence.
 */
export function readPurgeItems(text: string): PurgeItems {
  const urls: string[] = [];
  const tags: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const item = line.trim();
    if (item === "" || item.startsWith("#")) continue;
    if (/^(\/|https?:\/\/)/i.test(item)) urls.push(item);
    else if (item.startsWith(TAG)) tags.push(item.slice(TAG.length));
    else {
      throw new PurgeItemsError(
        `standard input, line ${index + 1}: ${JSON.stringify(item)} is neither a URL (it begins with /, http:// or ` +
          `https://) nor a tag (${TAG}NAME). Nothing was purged.`,
      );
    }
  }
  return { urls, tags };
}
