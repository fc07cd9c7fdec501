import { ownPackage } from "./own-package.ts";

/**
 * Packages that only some commands need. The manifest takes any version of them, because npm refuses to install the
 * whole package, the SDK with it, beside one that the range of an optional peer leaves out.
 */
export type OptionalPeer = "esbuild" | "miniflare" | "vitest" | "wrangler";

/** Says that something needs those of the packages that are not here, and how to get them; `null` if all of them are. */
export function lackOf(who: string, peers: readonly OptionalPeer[]): string | null {
  const missing = peers.filter((peer) => !isInstalled(peer));
  if (missing.length === 0) return null;
  const { devDependencies: tested } = ownPackage;
  const install = `npm install --save-dev ${missing.map((peer) => `${peer}@${tested[peer]}`).join(" ")}`;
  return `${who} needs more than is installed here. This installs it:\n\n  ${install}\n`;
}

function isInstalled(peer: OptionalPeer): boolean {
  try {
    import.meta.resolve(peer);
    return true;
  } catch {
    return false; // Node tells a package that it does not find by throwing.
  }
}
