import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { ConfigFileError } from "../../package/config-file-error.ts";
import { moduleBeside } from "../../package/own-package.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import type { SimulatedSiteInput } from "../cdn/cdn-options.ts";
import { loadSite } from "../config/config-file.ts";
import { isWranglerConfig, readWranglerConfig } from "../config/wrangler-config.ts";
import { placedText, WORKER_OPTIONS, workerEntry } from "./bundle.ts";
import { siteAsJson } from "./harness-protocol.ts";
import type { EdgeWorker } from "./miniflare.ts";
import { type FilesOutside, filesOutside, type ModuleRule } from "./module-rules.ts";

/** The worker of every isolate and of the purge log in a simulated CDN. */
export interface SimulatedWorker extends EdgeWorker {
  readonly logClass: string;
  /** The other bindings of an owner's worker, in Miniflare's words. */
  readonly bindings?: object;
}

/** The package's worker for a site as plain data, or an owner's own worker or site from a config file. */
export async function simulatedWorker(
  given: { readonly site: SimulatedSiteInput } | { readonly config: string },
  origin: string,
): Promise<SimulatedWorker> {
  if ("site" in given) {
    const bundled = await bundledOnce(VIRTUAL_TIME, { entryPoints: [VIRTUAL_TIME] });
    const site = { ...given.site, origin: inPlaceOf(given.site.origin, origin) };
    return { ...bundled, variables: { SITE: siteAsJson(site) }, logClass: "PurgeLog" };
  }
  const file = resolve(given.config);
  rerunOnChange([file]); // Even if it cannot be read, because an edit may correct it.
  if (!existsSync(file)) throw new ConfigFileError(`there is no ${file}; the option config names the file to run.`);
  try {
    return await (isWranglerConfig(file) ? workerOfWranglerConfig(file) : workerOfSiteFile(file));
  } catch (error) {
    throw lacksImports(error) ? new ConfigFileError(`${file}: ${WITHOUT_IMPORTS}`, { cause: error }) : error;
  }
}

/** The origin at this address, with the site's other settings for its own. */
function inPlaceOf(given: SimulatedSiteInput["origin"], url: string): SiteInput["origin"] {
  if (typeof given !== "object" || given === null) return url;
  const { service: _, ...settings } = given as { readonly service?: unknown };
  return { ...settings, url };
}

const WITHOUT_IMPORTS =
  "Jest reads no config unless Node is started with a flag: NODE_OPTIONS=--experimental-vm-modules npx jest. " +
  "Without it, give the site itself: startCdn({ site: { … } }).";

/** Whether this runs in CommonJS under Jest, where imports with computed names do not work. */
function lacksImports(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: string; readonly cause?: unknown };
  return code === "ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG" || (cause !== undefined && lacksImports(cause));
}

async function workerOfSiteFile(file: string): Promise<SimulatedWorker> {
  await loadSite(file);
  const stdin = workerEntry(
    `
      import site from ${JSON.stringify(file)};
      import { createSimulatedEdge, withHarness } from ${JSON.stringify(SIMULATION)};
      export { PurgeLog } from ${JSON.stringify(SIMULATION)};
      const edge = createSimulatedEdge(site);
      export default withHarness(() => edge);`,
    dirname(file),
  );
  return { ...(await bundledOnce(file, { stdin })), variables: {}, logClass: "PurgeLog" };
}

async function workerOfWranglerConfig(file: string): Promise<SimulatedWorker> {
  const { main, logClass, variables, define, alias, moduleRules, bindings } = await readWranglerConfig(file);
  const stdin = workerEntry(
    `
      import worker from ${JSON.stringify(main)};
      import { ownersWorker } from ${JSON.stringify(SIMULATION)};
      export * from ${JSON.stringify(main)};
      export default ownersWorker(worker);`,
    dirname(main),
  );
  return { ...(await bundledOnce(file, { define, alias, stdin }, moduleRules)), variables, logClass, bindings };
}

const SIMULATION = moduleBeside(import.meta.url, "simulation.worker");
const VIRTUAL_TIME = moduleBeside(import.meta.url, "virtual-time.worker");

/**
 * Resolves an owner's import of `tidemark/worker` to the simulated one, and the simulated one's own import to the real
 * one.
 */
const simulatedForOwners: Plugin = {
  name: "simulated-for-owners",
  setup(build) {
    build.onResolve({ filter: /^tidemark\/worker$/ }, ({ resolveDir }) =>
      resolveDir === dirname(SIMULATION) ? undefined : { path: SIMULATION },
    );
  },
};

/** Is told of each file in a bundle before it is read. */
const filesInside = (onFile: (path: string) => void): Plugin => ({
  name: "files-inside",
  setup(build) {
    build.onLoad({ filter: /./, namespace: "file" }, ({ path }) => {
      onFile(path);
      return undefined; // esbuild reads it
    });
  },
});

type Code = Pick<EdgeWorker, "script" | "modules">;

interface Bundled {
  readonly code: Code;
  /** The owner's files in it, with the time of each file's last change before it was read. */
  readonly inputs: ReadonlyMap<string, number>;
}

/** A process bundles each file once, and again when it has changed, because tests start many CDNs of one site. */
const bundles = new Map<string, Promise<Bundled>>();

async function bundledOnce(file: string, entry: BuildOptions, rules: readonly ModuleRule[] = []): Promise<Code> {
  let bundled = await bundles.get(file);
  if (!bundled || haveChanged(bundled.inputs)) {
    const bundling = bundle(file, entry, rules);
    bundles.set(file, bundling);
    bundling.catch(() => bundles.delete(file));
    bundled = await bundling;
  }
  rerunOnChange([...bundled.inputs.keys()]);
  return bundled.code;
}

async function bundle(file: string, entry: BuildOptions, rules: readonly ModuleRule[]): Promise<Bundled> {
  const files: FilesOutside = new Map();
  const inputs = new Map<string, number>();
  const noteInput = (path: string) => {
    if (!path.includes("node_modules") && !inputs.has(path)) inputs.set(path, changedAt(path));
  };
  const plugins = [simulatedForOwners, filesOutside(rules, files, noteInput), filesInside(noteInput)];
  const options = { ...WORKER_OPTIONS, plugins, ...entry };
  try {
    const { outputFiles } = await build(options);
    const modules = Object.fromEntries([...files.values()].map(({ name, ...module }) => [name, module]));
    return { code: { script: outputFiles![0]!.text, modules }, inputs };
  } catch (error) {
    const { errors, message } = error as Error & { errors?: Parameters<typeof placedText>[0][] };
    throw new ConfigFileError(`${file}: ${errors?.map(placedText).join("\n") ?? message}`, { cause: error });
  }
}

function haveChanged(inputs: ReadonlyMap<string, number>): boolean {
  return [...inputs].some(([path, at]) => changedAt(path) !== at);
}

/** Epoch milliseconds; 0 for a file that is gone. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The part of vitest's worker that is used: its call for modules that Node loads without vitest's loader. */
interface VitestWorker {
  readonly filepath?: string;
  readonly rpc?: { ensureModuleGraphEntry?(file: string, importer: string): Promise<void> };
}

/**
 * Lets `vitest --watch` run the current test file again when one of these files changes: vitest follows imports, and a
 * config is named, not imported. It does nothing under other runners, or under a vitest without this call; there,
 * `forceRerunTriggers` in the config does the same.
 */
function rerunOnChange(files: readonly string[]): void {
  const { filepath, rpc } = (globalThis as { __vitest_worker__?: VitestWorker }).__vitest_worker__ ?? {};
  if (filepath === undefined || !rpc?.ensureModuleGraphEntry) return;
  for (const file of files) rpc.ensureModuleGraphEntry(file, filepath).catch(() => undefined); // Without the watch, tests still run.
}
