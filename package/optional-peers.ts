import { readFileSync } from "node:fs";
import Module from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownPackage } from "./own-package.ts";
import { packageManagerOf } from "./package-manager.ts";

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
  const { add, addForTests } = packageManagerOf(".");
  const command = peers.includes("acme-client") ? add : addForTests; // production must have what a server needs
  return `${why}\n\n  ${command} ${lacking.map(({ peer }) => `${peer}@${tested[peer]}`).join(" ")}\n`;
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
    const manifest = manifestOf(peer);
    return manifest === undefined ? null : (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  } catch {
    return null; // Node and Yarn throw for a package that they do not find.
  }
}

/** Yarn's Plug'n'Play: https://yarnpkg.com/advanced/pnpapi */
interface PlugAndPlay {
  findPnpApi?(from: string): { resolveToUnqualified(name: string, from: string): string } | null;
}

function manifestOf(peer: OptionalPeer): string | undefined {
  const own = fileURLToPath(import.meta.url);
  // Node does not look there, and Yarn puts no packages where Node looks.
  const yarn = (Module as PlugAndPlay).findPnpApi?.(own) ?? null;
  return yarn === null
    ? Module.findPackageJSON(peer, import.meta.url) // an import of this name would not load in Bun, which lacks it
    : join(yarn.resolveToUnqualified(peer, own), "package.json");
}
