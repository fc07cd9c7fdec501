import { existsSync, readdirSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { EDGE_VARIABLES_FILE, EDGE_WRANGLER_FILE } from "../../package/wrangler-files.ts";
import { mainOf } from "./app-worker.ts";
import type { WranglerConfig } from "./wrangler-config.ts";

/** The parts of a package.json that are about tools. */
export interface NamedTools {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The runner of the edge's test: vitest, or Node itself in a project with another runner. */
export type Runner = "vitest" | "node";

/**
 * A project's tests stay as they are. If its runner is not vitest, or is vitest with settings of its own, the edge's test is
 * for Node, in a file that Jest, Mocha and vitest do not pick up: another runtime, other folders or the plugins of an app
 * are not for it.
 */
export function runnerFor(folder: string, manifest: NamedTools | null): Runner {
  const hasVitest = dependsOn(manifest, "vitest");
  if (hasVitestConfig(resolve(folder), hasVitest)) return "node";
  if (hasVitest) return "vitest";
  const hasOther = /\b(jest|mocha|ava|tap|node\b.* --test)\b/.test(manifest?.scripts?.test ?? "");
  return hasOther || dependsOn(manifest, "jest") || dependsOn(manifest, "mocha") ? "node" : "vitest";
}

function dependsOn(manifest: NamedTools | null, name: string): boolean {
  return name in { ...manifest?.dependencies, ...manifest?.devDependencies };
}

/**
 * Whether tools would build the app by a new tsconfig.json: it takes the place of a jsconfig.json, and tells Next that
 * the app is in TypeScript.
 */
export function tsconfigChangesApp(folder: string, manifest: NamedTools | null): boolean {
  return existsSync(join(folder, "jsconfig.json")) || dependsOn(manifest, "next");
}

/** The files that vitest takes its settings from. Those named workspace and projects are for version 3. */
const VITEST_CONFIG = /^(vite\.config|vitest\.(config|workspace|projects))\.([cm]?[jt]s|json)$/;

/** `upwards`: whether those of the folders above count, where vitest before 5 looks too. */
function hasVitestConfig(folder: string, upwards: boolean): boolean {
  if (filesIn(folder).some((file) => VITEST_CONFIG.test(file))) return true;
  const isTop = existsSync(join(folder, ".git")) || dirname(folder) === folder;
  return upwards && !isTop && hasVitestConfig(dirname(folder), upwards);
}

/** None if this user may not read the folder. */
function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * The ending with which a module of the project imports its neighbour: the file's own, unless a tsconfig forbids that
 * (TS5097). `.js` means the same file in every kind of resolution. `tsconfig`: its text; `null` for none.
 */
export function endingOfImports(tsconfig: string | null): ".ts" | ".js" {
  return tsconfig === null || /"(allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(tsconfig)
    ? ".ts"
    : ".js";
}

/** The names of the edge's files and scripts. Beside an app that is a worker itself, they differ from the app's. */
export interface EdgeNames {
  readonly wrangler: WranglerConfig["file"] | typeof EDGE_WRANGLER_FILE;
  /** Its entry, from the folder. */
  readonly worker: string;
  /** Whether the owner has written that entry: then it stays as it is, and `tidemark dev` would not run it. */
  readonly isOwnEntry: boolean;
  /** The suffix of its scripts' names. */
  readonly suffix: "" | ":edge";
  /** The suffix of commands that read its wrangler config, if that is not their default. */
  readonly configFlag: "" | ` --config ${typeof EDGE_WRANGLER_FILE}`;
}

const ENTRY = "worker.ts";

const BESIDE_AN_APP: EdgeNames = {
  wrangler: EDGE_WRANGLER_FILE,
  worker: "edge.ts",
  isOwnEntry: false,
  suffix: ":edge",
  configFlag: ` --config ${EDGE_WRANGLER_FILE}`,
};

/**
 * `app`: the app that is a worker itself; `null` for none. `found`: the project's wrangler config, which is the edge's own
 * if it is not the app's.
 */
export function namesFor(app: object | null, found: WranglerConfig | null = null): EdgeNames {
  if (app !== null) return BESIDE_AN_APP;
  const main = posix.normalize((found === null ? "" : mainOf(found)) || ENTRY); // "": its text is not JSON
  const wrangler = found?.file ?? "wrangler.toml";
  return { wrangler, worker: main, isOwnEntry: main !== ENTRY, suffix: "", configFlag: "" };
}

/**
 * The scripts of a project for its edge. `behind`: the wrangler config of the worker that it asks; `null` for an address.
 * `variables`: the file with its token.
 */
export function scriptsFor(
  { wrangler, isOwnEntry, configFlag }: EdgeNames,
  runner: Runner,
  behind: string | null,
  variables: string,
): Readonly<Record<EdgeScript, string>> {
  // Node itself would read --env-file of any program, and would not start without the file.
  const flag = variables === EDGE_VARIABLES_FILE ? ` --envFile ${variables}` : "";
  const both = `wrangler dev -c ${wrangler} -c ${behind}`;
  return {
    test: runner === "vitest" ? "vitest run test/edge.test.ts" : "node --test edge-test.mjs",
    dev: behind !== null ? `${both}${flag}` : isOwnEntry ? "wrangler dev" : "tidemark dev",
    check: `tidemark check${configFlag}`,
    deploy: `wrangler deploy${configFlag}`,
  };
}

export type EdgeScript = "test" | "dev" | "check" | "deploy";
