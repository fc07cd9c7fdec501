import { resolve } from "node:path";
import { build } from "tsdown";
import type { TestProject } from "vitest/node";
import { COMMAND } from "../../../tsdown.config.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * The command as it is published, but with undici and zod in it, which are two hundred files: a server starts in half
     * of the time that the sources need.
     */
    readonly builtCommand?: string;
  }
}

/** Below the repository, whose package.json it reads. Its files have fixed names, so that their compiled code is found again. */
const FOLDER = resolve(".cache/command");

/** Before the first test of this project, and only if it has one to run. */
export default async function setup(project: TestProject): Promise<void> {
  await build({
    ...COMMAND,
    config: false,
    outDir: FOLDER,
    clean: false, // another run may be using it
    dts: false,
    deps: { alwaysBundle: [/^undici$/, /^zod/] },
    copy: [],
    logLevel: "error",
    outputOptions: { chunkFileNames: "[name].mjs" },
  });
  project.provide("builtCommand", resolve(FOLDER, "cli.mjs"));
}
