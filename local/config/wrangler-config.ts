import { ConfigFileError } from "../../package/config-file-error.ts";

/** An owner's worker, as a wrangler config describes it. */
export interface WranglerConfig {
  /** The worker's entry file. */
  readonly main: string;
  /** The class of the purge log. */
  readonly logClass: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly define: Record<string, string>;
  /** The other bindings of the worker, in Miniflare's words. */
  readonly bindings: object;
}

export function isWranglerConfig(file: string): boolean {
  return /\.(toml|jsonc?)$/.test(file);
}

/** Reads a wrangler config with wrangler's own reader. Throws `ConfigFileError`. */
export async function readWranglerConfig(file: string): Promise<WranglerConfig> {
  // Loading wrangler takes most of a second, so it is loaded only for a wrangler config.
  const { unstable_getMiniflareWorkerOptions: optionsOf } = await import("wrangler");
  const { main, workerOptions, define } = optionsOf(file);
  const { bindings: variables = {}, durableObjects = {}, ...rest } = workerOptions;
  const { PURGE_LOG: purgeLog, ...otherObjects } = durableObjects;
  if (main === undefined)
    throw new ConfigFileError(
      `${file}: there is no main, so there is no worker to run. Add main = "src/index.ts", or another file.`,
    );
  if (typeof purgeLog !== "object" || !("className" in purgeLog)) {
    throw new ConfigFileError(
      `${file}: the purge log is missing. Add a Durable Object with the binding PURGE_LOG and the class PurgeLog.`,
    );
  }
  const { modulesRules: _, ...bindings } = rest;
  return {
    main,
    logClass: purgeLog.className,
    variables,
    define,
    bindings: { ...bindings, durableObjects: otherObjects },
  };
}
