import { builtinModules } from "node:module";
import { dirname, resolve } from "node:path";
import type { Message } from "esbuild";
import { ConfigFileError } from "../../package/config-file-error.ts";
import type { ModuleRule } from "../runtime/module-rules.ts";

/** An owner's worker, as a wrangler config describes it. */
export interface WranglerConfig {
  /** The worker's entry file. */
  readonly main: string;
  /** The class of the purge log. */
  readonly logClass: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly define: Record<string, string>;
  readonly alias: Record<string, string>;
  readonly moduleRules: readonly ModuleRule[];
  /** The other bindings of the worker, in Miniflare's words. */
  readonly bindings: object;
}

export function isWranglerConfig(file: string): boolean {
  return /\.(toml|jsonc?)$/.test(file);
}

/** Reads a wrangler config with wrangler's own reader. Throws `ConfigFileError`. */
export async function readWranglerConfig(file: string): Promise<WranglerConfig> {
  // Loading wrangler takes most of a second, so it is loaded only for a wrangler config.
  const { unstable_getMiniflareWorkerOptions: optionsOf, unstable_readConfig: readConfig } = await import("wrangler");
  const read = () => {
    // Without `env` it would be the environment that the variable CLOUDFLARE_ENV names.
    const config = readConfig({ config: file, env: "" });
    return { config, ...optionsOf(config) };
  };
  const { config, main, workerOptions, define } = orConfigFileError(file, read);
  const { bindings: variablesHere = {}, durableObjects = {}, ...rest } = workerOptions;
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
  const { modulesRules = [], ...bindings } = rest;
  const { alias = {}, compatibility_flags: compatibilityFlags } = config;
  return {
    main,
    logClass: purgeLog.className,
    variables: { ...pick(variablesHere, (name) => !isOfEdge(name)), ...pick(config.vars, isOfEdge) },
    define,
    alias: aliasesOf(file, { alias, compatibilityFlags }),
    moduleRules: moduleRulesOf(modulesRules),
    bindings: { ...bindings, durableObjects: otherObjects },
  };
}

interface WranglersRule {
  readonly type: string;
  readonly include: readonly string[];
  readonly fallthrough?: boolean | undefined;
}

/** Of the rules for one type of file, the first without `fallthrough` is the last that counts, as for wrangler. */
function moduleRulesOf(rules: readonly WranglersRule[]): readonly ModuleRule[] {
  const counts = ({ type }: WranglersRule, index: number) =>
    rules.slice(0, index).every((earlier) => earlier.type !== type || earlier.fallthrough);
  return rules
    .filter(counts)
    .flatMap(({ type, include }) =>
      type === "Text" || type === "Data" || type === "CompiledWasm"
        ? include.map((glob) => ({ type, pattern: patternOf(glob) }))
        : [],
    );
}

/** wrangler compares a glob with what an import names, and in it a star also stands for slashes. */
function patternOf(glob: string): RegExp {
  const texts = glob.split(/\*+/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${texts.join(".*")}$`);
}

/** Whether a variable is the edge's own. `.dev.vars` and `.env` set those for this machine, and a test is for all machines. */
function isOfEdge(name: string): boolean {
  return name.startsWith("TIDEMARK_");
}

function pick(variables: object, isWanted: (name: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => isWanted(name)));
}

function orConfigFileError<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ConfigFileError(whyUnread(file, cause), { cause });
  }
}

/** What wrangler's reader threw for a file, with the place of a mistake in the syntax. */
export function whyUnread(file: string, error: unknown): string {
  const { message, text, location } = error as Error & Partial<Pick<Message, "text" | "location">>;
  return location ? `${file}:${location.line}:${location.column + 1}: ${text}` : `${file}: ${message}`;
}

/** The parts of a wrangler config that say what its worker's imports mean. */
export interface ImportSettings {
  readonly compatibilityFlags: readonly string[];
  readonly alias: Readonly<Record<string, string>>;
}

/**
 * What the imports of an owner's worker mean besides files and packages: with `nodejs_compat`, Node's modules also without
 * `node:`, and the config's aliases, of which paths begin in its folder.
 */
export function aliasesOf(config: string, { compatibilityFlags, alias }: ImportSettings): Record<string, string> {
  const hasNode = compatibilityFlags.some((flag) => /^nodejs_compat(_v2)?$/.test(flag));
  const ofNode = hasNode ? NODE_MODULES.map((name): [string, string] => [name, `node:${name}`]) : [];
  const own = Object.entries(alias).map(([name, to]): [string, string] => [
    name,
    to.startsWith(".") ? resolve(dirname(config), to) : to,
  ]);
  return Object.fromEntries([...ofNode, ...own]);
}

const NODE_MODULES = builtinModules.filter((name) => !/^(_|node:)/.test(name));
