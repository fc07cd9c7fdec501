import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, context, type Message, type Plugin } from "esbuild";

/** The name that an edge's entry goes by in messages. */
export const EDGE_ENTRY = "edge-entry.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

/** How the worker is bundled for the runtime: the same settings that wrangler uses to deploy it. */
export const WORKER_OPTIONS = {
  bundle: true,
  write: false,
  format: "esm",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  logLevel: "silent",
} as const satisfies BuildOptions;

/** The code of an edge for the site in a config file: what the owner's `index.ts` would be. */
export function edgeEntry(configFile: string): NonNullable<BuildOptions["stdin"]> {
  return {
    contents: `
      import site from ${JSON.stringify(resolve(configFile))};
      import { createEdge } from "tidemark/worker";
      export { PurgeLog } from "tidemark/worker";
      export default createEdge(site);`,
    resolveDir: HERE,
    sourcefile: EDGE_ENTRY,
    loader: "ts",
  };
}

/**
 * The package's own worker, wherever the file stands that asks for it: a config need not lie in a folder that has the
 * package installed.
 */
export const ownWorker: Plugin = {
  name: "own-worker",
  setup(build) {
    build.onResolve({ filter: /^tidemark\/worker$/ }, ({ path, kind, resolveDir }) =>
      resolveDir === HERE ? undefined : build.resolve(path, { kind, resolveDir: HERE }),
    );
  },
};

/** Bundles a worker, from a file or from code, into one module. Rejects with esbuild's messages. */
export async function bundleWorker(entry: string | NonNullable<BuildOptions["stdin"]>): Promise<string> {
  const input = typeof entry === "string" ? { entryPoints: [entry] } : { stdin: entry };
  const result = await build({ ...WORKER_OPTIONS, ...input, plugins: [ownWorker] });
  return result.outputFiles[0]!.text;
}

/** Bundles again whenever a file that the worker is made of changes. */
export async function watchWorker(
  entry: NonNullable<BuildOptions["stdin"]>,
  onBuild: (script: string) => void,
  onError: (words: string) => void,
): Promise<{ stop(): Promise<void> }> {
  const tell: Plugin = {
    name: "tell",
    setup(build) {
      build.onEnd((result) => {
        const script = result.outputFiles?.[0]?.text;
        if (result.errors.length > 0) onError(result.errors.map(words).join("\n"));
        else if (script !== undefined) onBuild(script);
      });
    },
  };
  const watching = await context({ ...WORKER_OPTIONS, stdin: entry, plugins: [ownWorker, tell] });
  await watching.watch();
  return { stop: () => watching.dispose() };
}

/** One esbuild message with its place. A place in the entry is none that anybody has: it speaks of the config. */
export function words({ text, location }: Message): string {
  if (text.startsWith("No matching export")) return "it must end in export default defineSite({ origin: …, … })";
  return location && location.file !== `local/${EDGE_ENTRY}`
    ? `${location.file}:${location.line}:${location.column + 1}: ${text}`
    : text;
}
