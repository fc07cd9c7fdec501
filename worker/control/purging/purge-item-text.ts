/** The beginnings of purge keys for which people write others. */
const WRITTEN: Readonly<Record<string, string>> = {
  "*": "everything",
  "#": "tag:",
  "path:": "",
  "//": "https://",
  "host:": "prefix:",
};

/**
 * A purge key as people and `tidemark purge -` write it: `/about`, `https://www.example.com/about` (which also covers
 * http), `tag:song:42`, `prefix:/shop`, `prefix:www.example.com/shop`, `host:www.example.com`, `everything`.
 */
export function purgeItemText(key: string): string {
  return key.replace(/^(?:\*$|#|path:|(?:\/\/|host:)(?=[^/]*\/))/, (beginning) => WRITTEN[beginning]!);
}
