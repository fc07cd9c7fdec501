import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { ownPackage } from "./own-package.ts";

/**
 * Packages that only some commands need. The manifest accepts any version of them, because npm refuses to install the
 * whole package, the SDK with it, beside a version outside the range of an optional peer.
 */
export type OptionalPeer = "acme-client" | "esbuild" | "miniflare" | "sharp" | "vitest" | "wrangler";

/** How to install missing or unusable packages; `null` if there are none. `user` is the command that needs them. */
export function missingPeersMessage(user: string, peers: readonly OptionalPeer[]): string | null {
  const { version: own, devDependencies: tested, carries } = ownPackage;
  const lacking = peers
    .filter((peer) => !carries?.includes(peer))
    .map((peer) => ({ peer, version: installedVersion(peer) }))
    .filter(({ peer, version }) => version === null || !isOfUse(peer, version));
  if (lacking.length === 0) return null;
  if (carries !== undefined) {
    const names = lacking.map(({ peer }) => peer).join(", ");
    return (
      `${user} needs ${names}, which this archive does not contain. Install the package from npm instead, in the folder of ` +
      `your project:\n\n  npm install --save-dev tidemark@${own}\n`
    );
  }
  const other = lacking.find(({ version }) => version !== null);
  const wanted = other && `${other.peer} ${tested[other.peer]} or a later ${majorOf(tested[other.peer]!)}`;
  const why =
    other === undefined
      ? `${user} needs packages that are not installed here. Install them with:`
      : other.peer === "acme-client"
        ? `${user} needs ${wanted}, but ${other.version} is installed here. Install the other version with:`
        : `${user} runs the edge in ${wanted}, but here is ` +
          `${other.version}, perhaps as wrangler's own. Install the other version beside it with:`;
  // npm must not leave out in production what a server needs.
  const kind = peers.includes("acme-client") ? "" : " --save-dev";
  const install = `npm install${kind} ${lacking.map(({ peer }) => `${peer}@${tested[peer]}`).join(" ")}`;
  return `${why}\n\n  ${install}\n`;
}

/**
 * Whether this version of a package works. Earlier versions of acme-client are untested. An earlier miniflare has an
 * earlier runtime, which refuses the edge's compatibility date, and another major version has other options.
 */
function isOfUse(peer: OptionalPeer, version: string): boolean {
  if (peer !== "miniflare" && peer !== "acme-client") return true;
  const tested = ownPackage.devDependencies[peer]!;
  return majorOf(version) === majorOf(tested) && minorOf(version) >= minorOf(tested);
}

function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}

/** miniflare's is the date of its runtime, like 20260730. */
function minorOf(version: string): number {
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
