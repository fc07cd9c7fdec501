import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { fetchedFromNpm, NEXT, SVELTEKIT, VENDORS_CLIENTS } from "../backends/npm-packages.ts";
import { pythonWithPackages } from "../backends/python-environment.ts";
import { inGate } from "../suite/depth.ts";
import { folderWith, type InstalledPackage, installPackage } from "./installed-package.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The package, packed and installed once for all tests of this run. */
    readonly installed: InstalledPackage;
    /** A project that has it, and what its simulated CDN needs beside it. */
    readonly packedProject: string;
  }
}

/** Before the first test of this project, and only if it has one to run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // On a clean machine the other packages come meanwhile. Tests that find none of them fetch them themselves, or say why
  // there are none.
  const fetched = inGate(1, [VENDORS_CLIENTS, NEXT, SVELTEKIT]).map(fetchedFromNpm);
  const [installed] = await Promise.all([installPackage(), ...[...fetched, pythonWithPackages()].map(settled)]);
  project.provide("installed", installed);
  // What Node has compiled is found again by its path, and no other run has the same paths.
  project.config.env.NODE_COMPILE_CACHE = join(installed.home, "node-compile");
  const peers = ["miniflare", "esbuild", "wrangler", "vitest"];
  project.provide("packedProject", await folderWith(installed, "tests-of-a-cdn", peers));
  // A process that a test has just ended may still be writing there.
  return () => rm(installed.home, { recursive: true, maxRetries: 10 });
}

/** Waits for work whose failure is told elsewhere. */
async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
