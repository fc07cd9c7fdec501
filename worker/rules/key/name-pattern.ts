/** Whether a name matches one of the patterns: an exact name, or a prefix followed by `*`. Case-sensitive. */
export function matchesAnyName(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
