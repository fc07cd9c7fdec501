import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, type Message, type Plugin } from "esbuild";
import { ownWorker, placedText, WORKER_OPTIONS, workerEntry } from "../../local/runtime/bundle.ts";
import { startEdgeRuntime } from "../../local/runtime/miniflare.ts";
import type { SiteReview } from "../../wire/site-review.ts";
import type { WranglerSettings } from "./wrangler-settings.ts";

const HERE = dirname(fileURLToPath(import.meta.url));

/** The result of running a worker's modules. */
export type RanWorker =
  | {
      readonly kind: "ran";
      readonly exported: readonly string[];
      /** For each call of `createEdge`, the review of its site. */
      readonly reviews: readonly SiteReview[];
      /** Why the named tokens in `vars` cannot be read; `null` if they can, or there are none. */
      readonly closed: string | null;
    }
  /** Its own files or its site are wrong. */
  | { readonly kind: "failed"; readonly file: string | null; readonly message: string }
  /**
   * It could not be run here, perhaps without a fault of its own: wrangler may bundle modules that are not bundled
   * here, and know secrets that are not known here.
   */
  | { readonly kind: "not-run"; readonly message: string };

/** A worker's bundle, like wrangler's. Throws esbuild's error. */
export async function bundledBytes(settings: WranglerSettings): Promise<Uint8Array> {
  const options = optionsOf(settings);
  const { outputFiles } = await build({ ...options, entryPoints: [settings.main!], plugins: [ownWorker] });
  return outputFiles[0]!.contents;
}

/**
 * Runs a worker's modules in the Workers runtime, and reviews the site that it passes to `createEdge`. The rules are
 * checked there and not in Node, because older Nodes have no URLPattern.
 */
export async function runWorker(settings: WranglerSettings): Promise<RanWorker> {
  let script: string;
  let configFile: string | null;
  try {
    const { outputFiles, metafile } = await build({
      ...optionsOf(settings),
      minify: false,
      metafile: true,
      stdin: workerEntry(entryCode(settings.main!), HERE),
      plugins: [recordUses],
    });
    script = outputFiles[0]!.text;
    configFile = Object.keys(metafile.inputs).find((file) => /(^|\/)tidemark\.config\.[cm]?[jt]s$/.test(file)) ?? null;
  } catch (error) {
    const kind = isOfWranglersRules(error) ? "not-run" : "failed";
    return { kind, file: null, message: buildMessage(error) };
  }
  const { missing = [], mistakes = "", ...ran } = await runScript(script, settings, settings.variables);
  if (ran.kind === "failed") return { ...ran, file: configFile };
  if (mistakes === "") return ran;
  // What is wrong whether or not they have values is not their fault.
  const standIns = Object.fromEntries(missing.map((name) => [name, STAND_IN]));
  const again = await runScript(script, settings, { ...settings.variables, ...standIns });
  const others = new Set(again.mistakes?.split("\n"));
  const [title, ...lasting] = mistakes.split("\n").filter((line) => others.has(line));
  return lasting.length === 0 ? ran : { kind: "failed", file: configFile, message: [title, ...lasting].join("\n") };
}

/** A value for what `env` lacks here: a text, a number and JSON. */
const STAND_IN = "1";

/** `missing`: what `env` lacks; `mistakes`: those of the site, a line each after a title. */
type RanScript = RanWorker & { readonly missing?: readonly string[]; readonly mistakes?: string };

async function runScript(
  script: string,
  { vars, compatibilityFlags }: WranglerSettings,
  variables: WranglerSettings["variables"],
): Promise<RanScript> {
  const lines: string[] = [];
  try {
    const runtime = await startEdgeRuntime(
      { script, variables, purgeLog: false },
      { port: 0, compatibilityFlags, onLine: (line) => lines.push(line) },
    );
    try {
      const answer = await fetch(runtime.url, { method: "POST", body: JSON.stringify(vars) });
      return (await answer.json()) as RanScript;
    } finally {
      await runtime.stop();
    }
  } catch (error) {
    return { kind: "not-run", message: [(error as Error).message, ...lines].join("\n") };
  }
}

/** Whether wrangler may be able to bundle this: it knows modules and types of files that are unknown here. */
function isOfWranglersRules(error: unknown): boolean {
  const { errors } = error as { errors?: readonly Message[] };
  return errors?.every(({ text }) => /^(Could not resolve "[^./]|No loader is configured for )/.test(text)) ?? true;
}

/** esbuild's messages with their places, or the message of an error that is not esbuild's. */
export function buildMessage(error: unknown): string {
  const { errors, message } = error as { errors?: unknown; message: string };
  if (!Array.isArray(errors)) return message;
  return (errors as readonly Message[]).map(placedText).join("\n");
}

function optionsOf({ minify, keepNames, define, alias }: WranglerSettings) {
  return {
    ...WORKER_OPTIONS,
    minify,
    keepNames,
    define,
    alias,
    // The files that wrangler treats as text and data.
    loader: { ".txt": "text", ".html": "text", ".sql": "text", ".bin": "binary", ".wasm": "binary" },
  } as const satisfies BuildOptions;
}

/** The modules run on a request, so that their errors can be reported. */
function entryCode(main: string): string {
  return `
    import { missing, sites } from "tidemark/recorded-uses";
    import { overridesOf, reviewSite, whyClosed } from "tidemark/worker/internal";

    async function run({ TIDEMARK_TOKENS, ...vars }) {
      const worker = await import(${JSON.stringify(main)});
      const reviews = sites.map((site) => reviewSite(site, overridesOf(vars)));
      return { kind: "ran", exported: Object.keys(worker), reviews, closed: whyClosed({ TIDEMARK_TOKENS }) };
    }

    function failed(error) {
      const message = error?.message || "it threw " + (error instanceof Error ? error : JSON.stringify(error));
      const mistakes = error?.name === "SiteError" ? message : "";
      if (missing.size === 0) return { kind: mistakes ? "failed" : "not-run", file: null, message, mistakes };
      const words = "env has no " + [...missing].join(", ") + " here, only vars and what .edge.vars, .dev.vars or .env sets: ";
      return { kind: "not-run", message: words + message, missing: [...missing], mistakes };
    }

    export default {
      async fetch(request) {
        return Response.json(await run(await request.json()).catch(failed));
      },
    };`;
}

/** The package's worker, with a `createEdge` that keeps the site. */
const RECORDING = `
  import { createEdge as create } from "tidemark/worker";
  import { sites } from "tidemark/recorded-uses";
  export * from "tidemark/worker";
  export function createEdge(site) {
    sites.push(site);
    return create(site);
  }`;

/** The runtime's own module, with an `env` that keeps the names that it was asked for and does not have. */
const RECORDING_ENV = `
  import { env as ofRuntime } from "cloudflare:workers";
  import { missing } from "tidemark/recorded-uses";
  export * from "cloudflare:workers";
  export const env = new Proxy(ofRuntime, {
    get(target, name) {
      if (!Reflect.has(target, name)) missing.add(String(name));
      return Reflect.get(target, name);
    },
  });`;

/**
 * Gives the owner's modules a `tidemark/worker` that keeps the sites that they pass to `createEdge`, and an `env` that keeps
 * what it lacks.
 */
const recordUses: Plugin = {
  name: "record-uses",
  setup(build) {
    build.onResolve({ filter: /^tidemark\/recorded-uses$/ }, ({ path }) => ({ path, namespace: "recorded" }));
    build.onLoad({ filter: /.*/, namespace: "recorded" }, () => ({
      contents: "export const sites = []; export const missing = new Set();",
    }));
    build.onResolve({ filter: /^cloudflare:workers$/ }, ({ path, namespace }) =>
      namespace === "recording-env" ? { path, external: true } : { path, namespace: "recording-env" },
    );
    build.onLoad({ filter: /.*/, namespace: "recording-env" }, () => ({ contents: RECORDING_ENV }));
    build.onResolve({ filter: /^tidemark\/worker(\/internal)?$/ }, ({ path, kind, namespace, pluginData }) => {
      if (pluginData === IS_REAL) return undefined;
      const isOwners = path === "tidemark/worker" && namespace !== "recording";
      return isOwners
        ? { path, namespace: "recording" }
        : build.resolve(path, { kind, resolveDir: HERE, pluginData: IS_REAL });
    });
    build.onLoad({ filter: /.*/, namespace: "recording" }, () => ({ contents: RECORDING, resolveDir: HERE }));
  },
};

/** Marks the recording module's own import. */
const IS_REAL = "real";
