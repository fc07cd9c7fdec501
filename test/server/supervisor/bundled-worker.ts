import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { WORKER_MAIN } from "../../../server/supervisor/worker-ahead.ts";
import { TEMPORARY_ROOT } from "../../suite/temporary-root.ts";

/** A worker's process with the page worker, as files that load several times as fast as the sources. */
export interface BundledWorker {
  readonly workerMain: string;
  readonly program: string;
  remove(): void;
}

export async function bundleWorker(): Promise<BundledWorker> {
  const outdir = mkdtempSync(join(TEMPORARY_ROOT, "tidemark-worker-"));
  await build({
    entryPoints: { main: WORKER_MAIN, program: fileURLToPath(new URL("./page-worker.ts", import.meta.url)) },
    ...{ outdir, outExtension: { ".js": ".mjs" }, bundle: true, splitting: true, format: "esm", platform: "node" },
  });
  return {
    workerMain: join(outdir, "main.mjs"),
    program: join(outdir, "program.mjs"),
    remove: () => rmSync(outdir, { recursive: true }),
  };
}
