import { rm } from "node:fs/promises";
import type { TestProject } from "vitest/node";
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
  const installed = await installPackage();
  project.provide("installed", installed);
  const peers = ["miniflare", "esbuild", "wrangler", "vitest"];
  project.provide("packedProject", await folderWith(installed, "tests-of-a-cdn", peers));
  return () => rm(installed.home, { recursive: true });
}
