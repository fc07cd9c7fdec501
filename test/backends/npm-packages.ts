import { createHash } from "node:crypto";
import { cp, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type InstalledPackage, run } from "../packed/installed-package.ts";
import { inGate } from "../suite/depth.ts";

/** A folder with packages, or the reason why there is none on this machine. */
export type Project = { readonly folder: string } | { readonly missing: string };

/** The version that docs/purging.md names. */
export const NEXT = ["next@16.4.6", "react@19.3.1", "react-dom@19.3.1"];

/** The versions that docs/getting-started.md names, with a wrangler that they accept. */
export const OPENNEXT = ["@opennextjs/cloudflare@1.20.13", "wrangler@4.164.0", ...NEXT];

export const SVELTEKIT = [
  "@sveltejs/kit@3.2.0",
  "@sveltejs/adapter-node@6.0.1",
  "@sveltejs/vite-plugin-svelte@7.3.1",
  "svelte@5.57.3",
  "vite@8.3.8",
];

/** The version that docs/purging.md names. */
export const ASTRO = ["astro@7.3.5", "@astrojs/node@11.1.6"];

/** The version that docs/purging.md names. */
export const REACT_ROUTER = [
  "@react-router/dev@8.4.0",
  "@react-router/node@8.4.0",
  "react-router@8.4.0",
  "react@19.3.1",
  "react-dom@19.3.1",
  "isbot@5.2.3",
  "vite@8.3.8",
];

/** The version that docs/purging.md names. */
export const NUXT = ["nuxt@3.21.11", "vite@7.3.8", "vue@3.5.45"];

/** The clients of other vendors. Two of them are 20,000 files, and left to `--all`; the gate has the calls that they make. */
export const VENDORS_CLIENTS = inGate(3, [
  "fastly@13.0.0",
  "keycdn@0.2.2",
  "@netlify/functions@5.3.0",
  "cloudflare@7.3.0",
  "@vercel/sdk@1.28.35",
]);

/** Words of npm without a network. */
const NO_NETWORK = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

/**
 * A folder with these packages, which are too large to be dependencies of ours: fetched the first time, and kept until
 * their versions change.
 */
export async function fetchedFromNpm(packages: readonly string[]): Promise<Project> {
  const versions = createHash("sha256").update(packages.join()).digest("hex").slice(0, 8);
  // Not below node_modules, where build tools take everything for a dependency.
  const folder = resolve(".cache", `${packages[0]!.replaceAll(/[/@]/g, "-").replace(/^-/, "")}-${versions}`);
  if (await exists(folder)) return { folder };
  // Made elsewhere and moved when it is complete, so that an interrupted run leaves nothing that looks complete.
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await writeFile(join(unfinished, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const flags = ["--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline", "--fetch-retries=1"];
    const { exit, stdout, stderr } = await run("npm", ["install", ...flags, ...packages], { cwd: unfinished });
    if (exit !== 0 && NO_NETWORK.test(stderr)) return { missing: `${packages.join(", ")} cannot be fetched here` };
    if (exit !== 0) throw new Error(`npm install ${packages.join(" ")}: ${stdout}${stderr}`);
    await moveUnlessThere(unfinished, folder);
    return { folder };
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Such a folder with the package under test beside the others. That is copied into it each time. */
export async function projectWith(
  packages: readonly string[],
  { folder: backend }: InstalledPackage,
): Promise<Project> {
  const project = await fetchedFromNpm(packages);
  if ("missing" in project) return project;
  for (const each of ["tidemark", "undici", "zod"]) {
    const copy = join(project.folder, "node_modules", each);
    await rm(copy, { recursive: true, force: true });
    await cp(join(backend, "node_modules", each), copy, { recursive: true });
  }
  return project;
}

/** Moves a folder that is complete, unless another process was quicker. */
export async function moveUnlessThere(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (error: unknown) => {
    if (!(await exists(to))) throw error;
  });
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
