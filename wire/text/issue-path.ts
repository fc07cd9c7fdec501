/**
 * A place in a JSON value as error messages name it: `tags[3]`, `routes[0].match`; empty for the whole value. Zod has
 * the same in `toDotPath`, but reaching that adds 300 KB to the bundle of a worker.
 */
export function issuePath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}
