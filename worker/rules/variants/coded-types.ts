/** Media types that servers code, on the fly or not: text in its many types, and what else is not compressed in itself. */
export const CODED_TYPES: readonly string[] = [
  "text/*",
  "*+json",
  "*+xml",
  "*+text",
  "application/javascript",
  "application/x-javascript",
  "application/json",
  "application/x-ndjson",
  "application/xml",
  "application/wasm",
  "application/rtf",
  "application/yaml",
  "application/vnd.ms-fontobject",
  "font/otf",
  "font/ttf",
  "image/bmp",
  "image/x-icon",
  "image/vnd.microsoft.icon",
];

/**
 * Whether a `Content-Type` is one of these: in lower case, `application/json`, all of a kind as `text/*`, or all with an
 * ending as `*+json`.
 */
export function isOfType(contentType: string | null, types: readonly string[]): boolean {
  const type = (contentType ?? "").replace(/;.*$/, "").trim().toLowerCase();
  if (type === "") return false;
  return types.some((each) => {
    if (each.endsWith("/*")) return type.startsWith(each.slice(0, -1));
    return each.startsWith("*+") ? type.endsWith(each.slice(1)) : type === each;
  });
}
