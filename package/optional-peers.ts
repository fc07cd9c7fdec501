import { ownPackage } from "./own-package.ts";

/**
 * Packages that only some commands need. The manifest accepts any version of them, because npm refuses to install the
 * whole package, the SDK with it, beside a version outside the range of an optional peer.
 */
export type OptionalPeer = "esbuild" | "miniflare" | "sharp" | "vitest" | "wrangler";

/** How to install those of the packages that are missing; `null` if none is. `user` is what needs them. */
export function missingPeersMessage(user: string, peers: readonly OptionalPeer[]): string | null {
  const missing = peers.filter((peer) => !isInstalled(peer));
  if (missing.length === 0) return null;
  const { devDependencies: tested } = ownPackage;
  const install = `npm install --save-dev ${missing.map((peer) => `${peer}@${tested[peer]}`).join(" ")}`;
  return `${user} needs packages that are not installed here. This installs them:\n\n  ${install}\n`;
}

function isInstalled(peer: OptionalPeer): boolean {
  try {
    import.meta.resolve(peer);
    return true;
  } catch {
    return false; // Node throws for a package that it does not find.
  }
}
