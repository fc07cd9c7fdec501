import { nearestName } from "./unknown-key.ts";

/** Why nothing can be imported under this name: the package has no such entry; `null` if it has, or the name is another's. */
export function unknownEntry(specifier: string, exported: Readonly<Record<string, unknown>>): string | null {
  const entries = Object.keys(exported).map((name) => name.replace(".", "tidemark"));
  if (!specifier.startsWith("tidemark/") || entries.includes(specifier)) return null;
  const nearest = nearestName(specifier, entries);
  return `there is no ${specifier}${nearest === null ? "" : `; did you mean ${nearest}?`}`;
}
