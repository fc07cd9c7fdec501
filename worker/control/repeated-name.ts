/**
 * The first name that an object in a JSON text has twice, as it is written; `null` if there is none. `JSON.parse` would
 * keep the last one alone, so that a purge of both would leave the first. `text` is valid: looking for the ends of
 * strings in others may take hours. RFC 8259 §4.
 */
export function repeatedName(text: string): string | null {
  const open: Set<unknown>[] = [];
  for (const [token, name] of text.matchAll(/[{}]|("(?:[^"\\]|\\.)*")(?:\s*:)?/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (token.endsWith(":")) {
      const names = open.at(-1)!;
      const read = JSON.parse(name!);
      if (names.has(read)) return name!;
      names.add(read);
    }
  }
  return null;
}
