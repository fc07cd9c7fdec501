/** The versions of Node that undici, which sends the purges, and Tidemark's own modules need. */
export const SUPPORTED_NODE = "22.19 or a later 22, or 24 or later";

export function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major >= 24 || (major === 22 && minor >= 19);
}
