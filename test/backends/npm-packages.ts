import { cp, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type InstalledPackage, run } from "../packed/installed-package.ts";

/** A folder with packages and ours beside them, or the reason why there is none on this machine. */
export type Project = { readonly folder: string } | { readonly missing: string };

/** Words of npm without a network. */
const NO_NETWORK = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

/**
 * A project with these packages, which are too large to be dependencies of ours: fetched the first time, and kept until
 * their versions change. The package under test is copied into it each time.
 */
export async function projectWith(
  packages: readonly string[],
  { folder: backend }: InstalledPackage,
): Promise<Project> {
  const versions = packages.map((each) => each.replaceAll(/[/@]/g, "-")).join("_");
  // Not below node_modules, where build tools take everything for a dependency.
  const folder = resolve(".cache", versions);
  if (!(await exists(join(folder, "node_modules")))) {
    // Made elsewhere and moved when it is complete, so that an interrupted run leaves nothing that looks complete.
    const unfinished = `${folder}.${process.pid}`;
    await mkdir(unfinished, { recursive: true });
    try {
      await writeFile(join(unfinished, "package.json"), JSON.stringify({ private: true, type: "module" }));
      const args = ["install", "--no-audit", "--no-fund", "--fetch-retries=1", ...packages];
      const { exit, stdout, stderr } = await run("npm", args, { cwd: unfinished });
      if (exit !== 0 && NO_NETWORK.test(stderr)) return { missing: `${packages.join(", ")} cannot be fetched here` };
      if (exit !== 0) throw new Error(`npm install ${packages.join(" ")}: ${stdout}${stderr}`);
      await rm(folder, { recursive: true, force: true });
      await rename(unfinished, folder);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  }
  for (const each of ["tidemark", "undici", "zod"]) {
    await rm(join(folder, "node_modules", each), { recursive: true, force: true });
    await cp(join(backend, "node_modules", each), join(folder, "node_modules", each), { recursive: true });
  }
  return { folder };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
