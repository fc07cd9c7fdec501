import { isBuiltin } from "node:module";
import { basename, dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, context, type Message, type Plugin } from "esbuild";
import { ownPackage } from "../../package/own-package.ts";
import { unknownEntry } from "../../wire/text/unknown-entry.ts";

/** The code of a worker that is not in a file. */
export type EntryCode = NonNullable<BuildOptions["stdin"]>;

/** The name of an edge's entry in esbuild's messages. */
const EDGE_ENTRY = "edge-entry.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

/** The settings for bundling a worker for the runtime: the same that wrangler uses to deploy it. */
export const WORKER_OPTIONS = {
  bundle: true,
  write: false,
  format: "esm",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:*", "node:*"],
  logLevel: "silent",
} as const satisfies BuildOptions;

/** Code as an edge's entry, whose imports are looked for from a folder. */
export function workerEntry(contents: string, resolveDir: string): EntryCode {
  return { contents, resolveDir, sourcefile: EDGE_ENTRY, loader: "ts" };
}

/** The code of an edge for the site in a config file: the same as the owner's `index.ts`. */
export function edgeEntry(configFile: string): EntryCode {
  return workerEntry(
    `
      import site from ${JSON.stringify(resolve(configFile))};
      import { createEdge } from "tidemark/worker";
      export { PurgeLog } from "tidemark/worker";
      export default createEdge(site);`,
    HERE,
  );
}

/** A config beside what compiles its site. */
export function configEntry(configFile: string): EntryCode {
  return workerEntry(
    `
      export { default } from ${JSON.stringify(resolve(configFile))};
      export { compileSite } from "tidemark/worker/internal";`,
    HERE,
  );
}

/**
 * Resolves `tidemark/worker` to this package's own worker, whichever file imports it: the folder of a config need not
 * have the package installed. Says of a misspelt entry of the package which one may be meant.
 */
export const ownWorker: Plugin = {
  name: "own-worker",
  setup(build) {
    build.onResolve({ filter: /^tidemark\/worker(\/internal)?$/ }, ({ path, kind, resolveDir }) =>
      resolveDir === HERE ? undefined : build.resolve(path, { kind, resolveDir: HERE }),
    );
    build.onResolve({ filter: /^tidemark\// }, ({ path }) => {
      const fault = unknownEntry(path, ownPackage.exports);
      return fault === null ? undefined : { errors: [{ text: fault }] };
    });
  },
};

/** Bundles a worker, from a file or from code, into one module. Rejects with esbuild's messages. */
export async function bundleWorker(entry: string | EntryCode): Promise<string> {
  const input = typeof entry === "string" ? { entryPoints: [entry] } : { stdin: entry };
  const result = await build({ ...WORKER_OPTIONS, ...input, plugins: [ownWorker] });
  return result.outputFiles[0]!.text;
}

/** Bundles a worker, and again whenever one of its files changes. */
export async function watchWorker(
  entry: EntryCode,
  onBuild: (script: string) => void,
  onError: (errors: readonly Message[]) => void,
): Promise<{ stop(): Promise<void> }> {
  const reportBuild: Plugin = {
    name: "report-build",
    setup(build) {
      build.onEnd((result) => {
        const script = result.outputFiles?.[0]?.text;
        if (result.errors.length > 0) onError(result.errors);
        else if (script !== undefined) onBuild(script);
      });
    },
  };
  const watching = await context({ ...WORKER_OPTIONS, stdin: entry, plugins: [ownWorker, reportBuild] });
  await watching.watch();
  return { stop: () => watching.dispose() };
}

/** Why a config cannot be bundled. Its name comes first, as its owner has written it, and not again at each place in it. */
export function bundlingFault(configFile: string, errors: readonly Message[]): string {
  const isInConfig = ({ location }: Message) => location !== null && resolve(location.file) === resolve(configFile);
  const named = (message: Message) =>
    isInConfig(message) ? { ...message, location: { ...message.location!, file: configFile } } : message;
  const lines = errors.map((message) => formatMessage(named(message)));
  return errors.every(isInConfig) ? lines.join("\n") : `${configFile}: ${lines.join("\n")}`;
}

/**
 * One esbuild message with its place. A place in the generated entry is left out, because it means nothing to the
 * reader.
 */
export function formatMessage(message: Message): string {
  const lacksSite = isInEntry(message) && message.text.startsWith("No matching export");
  return lacksSite ? "the file must end in export default defineSite({ origin: …, … })" : placedText(message);
}

/** esbuild's text after its place, unless that is in our own entry. */
export function placedText(message: Pick<Message, "text" | "location">): string {
  const { text, location } = message;
  if (location === null || isInEntry(message)) return withFlag(text);
  return `${location.file}:${location.line}:${location.column + 1}: ${withFlag(text)}`;
}

function isInEntry({ location }: Pick<Message, "location">): boolean {
  return location !== null && basename(location.file) === EDGE_ENTRY;
}

/** esbuild's text, with the flag without which one of Node's modules is not found. */
function withFlag(text: string): string {
  const [, name = ""] = /^Could not resolve "(.+)"$/.exec(text) ?? [];
  if (!isBuiltin(name)) return text;
  return `${text}, a module of Node: it needs compatibility_flags = ["nodejs_compat"] in the wrangler config`;
}
