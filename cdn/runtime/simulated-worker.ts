import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { WORKER_OPTIONS, words } from "./bundle.ts";
import { loadSite } from "../config/config-file.ts";
import { ConfigFileError } from "../config/config-file-error.ts";
import type { EdgeWorker } from "./miniflare.ts";
import type { SimulatedSiteInput } from "../simulated-site-input.ts";
import { isWranglerConfig, readWranglerConfig } from "../config/wrangler-config.ts";

/** What runs in every isolate and in the purge log of a simulated CDN. */
export interface SimulatedWorker extends EdgeWorker {
  readonly logClass: string;
  /** What else an owner's worker is bound to, in Miniflare's words. */
  readonly bindings?: object;
}

/** The package's worker for a site as plain data, or an owner's own worker or site from a config file. */
export async function simulatedWorker(
  given: { readonly site: SimulatedSiteInput } | { readonly config: string },
  origin: string,
): Promise<SimulatedWorker> {
  if ("site" in given) {
    const script = await bundled(sibling("virtual-time.worker"), () => ({
      entryPoints: [sibling("virtual-time.worker")],
    }));
    return { script, variables: { SITE: { ...given.site, origin } }, logClass: "PurgeLog" };
  }
  const file = resolve(given.config);
  if (!existsSync(file)) throw new ConfigFileError(`there is no ${file}.`);
  return isWranglerConfig(file) ? ownersWorker(file) : ownersSite(file);
}

async function ownersSite(file: string): Promise<SimulatedWorker> {
  await loadSite(file);
  const script = await bundled(file, () => ({
    stdin: {
      contents: `
        import site from ${JSON.stringify(file)};
        import { createEdge, withDoor } from ${JSON.stringify(SIMULATION)};
        export { PurgeLog } from ${JSON.stringify(SIMULATION)};
        const edge = createEdge(site);
        export default withDoor(() => edge);`,
      resolveDir: dirname(file),
      loader: "ts",
    },
  }));
  return { script, variables: {}, logClass: "PurgeLog" };
}

async function ownersWorker(file: string): Promise<SimulatedWorker> {
  const { main, logClass, variables, define, bindings } = await readWranglerConfig(file);
  const script = await bundled(file, () => ({
    define,
    stdin: {
      contents: `
        import worker from ${JSON.stringify(main)};
        import { withDoor } from ${JSON.stringify(SIMULATION)};
        export * from ${JSON.stringify(main)};
        export default withDoor(() => worker);`,
      resolveDir: dirname(main),
      loader: "ts",
    },
  }));
  return { script, variables, logClass, bindings };
}

const SIMULATION = sibling("simulation.worker");

/** An owner's `tidemark/worker` is the simulated one, and what that stands on is the real one. */
const simulated: Plugin = {
  name: "simulated",
  setup(build) {
    build.onResolve({ filter: /^tidemark\/worker$/ }, ({ resolveDir }) =>
      resolveDir === dirname(SIMULATION) ? undefined : { path: SIMULATION },
    );
  },
};

/** Each file is bundled once in a process: many CDNs of one site are what tests are made of. */
const scripts = new Map<string, Promise<string>>();

function bundled(file: string, options: () => BuildOptions): Promise<string> {
  const before = scripts.get(file);
  if (before) return before;
  const script = build({ ...WORKER_OPTIONS, loader: TEXT_LOADERS, plugins: [simulated], ...options() }).then(
    (result) => result.outputFiles![0]!.text,
    (error: Error & { errors?: Parameters<typeof words>[0][] }) => {
      scripts.delete(file);
      throw new ConfigFileError(`${file}: ${error.errors?.map(words).join("\n") ?? error.message}`, { cause: error });
    },
  );
  scripts.set(file, script);
  return script;
}

/** What wrangler takes for text, too. */
const TEXT_LOADERS = { ".txt": "text", ".html": "text", ".sql": "text" } as const;

/** A worker's module beside this one: in the sources TypeScript, in the package built. */
function sibling(name: string): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "mjs";
  return fileURLToPath(new URL(`./${name}.${extension}`, import.meta.url));
}
