import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { ownPackage } from "./own-package.ts";

/**
 * Packages that only some commands need. The manifest accepts any version of them, because npm refuses to install the
 * whole package, the SDK with it, beside a version outside the range of an optional peer.
 */
export type OptionalPeer = "esbuild" | "miniflare" | "sharp" | "vitest" | "wrangler";

/** How to install those of the packages that are missing or of no use; `null` if none is. `user` is what needs them. */
export function missingPeersMessage(user: string, peers: readonly OptionalPeer[]): string | null {
  const lacking = peers
    .map((peer) => ({ peer, version: installedVersion(peer) }))
    .filter(({ peer, version }) => version === null || !isOfUse(peer, version));
  if (lacking.length === 0) return null;
  const { devDependencies: tested } = ownPackage;
  const other = lacking.find(({ version }) => version !== null);
  const why =
    other === undefined
      ? `${user} needs packages that are not installed here. This installs them:`
      : `${user} runs the edge in ${other.peer} ${tested[other.peer]} or a later ${majorOf(tested[other.peer]!)}. Here is ` +
        `${other.version}, which wrangler may have brought for itself. This installs the other beside it, and wrangler keeps its own:`;
  const install = `npm install --save-dev ${lacking.map(({ peer }) => `${peer}@${tested[peer]}`).join(" ")}`;
  return `${why}\n\n  ${install}\n`;
}

/**
 * Whether edges run with this version of a package. Of miniflare, an earlier one has an earlier runtime, which refuses the
 * date that the edge is compatible with, and one of another major version takes other options.
 */
function isOfUse(peer: OptionalPeer, version: string): boolean {
  if (peer !== "miniflare") return true;
  const tested = ownPackage.devDependencies[peer]!;
  return majorOf(version) === majorOf(tested) && dateOf(version) >= dateOf(tested);
}

function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}

/** miniflare's minor version is the date of its runtime, like 20260730. */
function dateOf(version: string): number {
  return Number(version.split(".")[1]);
}

function installedVersion(peer: OptionalPeer): string | null {
  try {
    const manifest = findPackageJSON(peer, import.meta.url);
    return manifest === undefined ? null : (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  } catch {
    return null; // Node throws for a package that it does not find.
  }
}
