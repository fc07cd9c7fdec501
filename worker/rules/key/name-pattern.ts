/** Whether a name matches one of the patterns: an exact name, or a prefix followed by `*`. Case-sensitive. */
export function matchesAnyName(name: string, patterns: readonly string[]): boolean {
  for (const pattern of patterns) {
    if (pattern === name || (pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1)))) return true;
  }
  return false;
}
