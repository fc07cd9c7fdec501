import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { WRANGLER_FILES } from "../../package/wrangler-files.ts";
import { ProjectFileError } from "./project-file-error.ts";

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
  const has = (name: string) => name in { ...manifest?.dependencies, ...manifest?.devDependencies };
  if (hasVitestConfig(resolve(folder), has("vitest"))) return "node";
  if (has("vitest")) return "vitest";
  const hasOther = /\b(jest|mocha|ava|tap|node\b.* --test)\b/.test(manifest?.scripts?.test ?? "");
  return hasOther || has("jest") || has("mocha") ? "node" : "vitest";
}

/** The files that vitest takes its settings from. Those named workspace and projects are for version 3. */
const VITEST_CONFIG = /^(vite\.config|vitest\.(config|workspace|projects))\.([cm]?[jt]s|json)$/;

/** `upwards`: whether those of the folders above count, where vitest before 5 looks too. */
function hasVitestConfig(folder: string, upwards: boolean): boolean {
  if (existsSync(folder) && readdirSync(folder).some((file) => VITEST_CONFIG.test(file))) return true;
  const isTop = existsSync(join(folder, ".git")) || dirname(folder) === folder;
  return upwards && !isTop && hasVitestConfig(dirname(folder), upwards);
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
  readonly wrangler: "wrangler.toml" | "wrangler.edge.toml";
  readonly worker: "worker.ts" | "edge.ts";
  /** The suffix of its scripts' names. */
  readonly suffix: "" | ":edge";
  /** The suffix of commands that read its wrangler config, if that is not their default. */
  readonly configFlag: "" | " --config wrangler.edge.toml";
}

const ALONE: EdgeNames = { wrangler: "wrangler.toml", worker: "worker.ts", suffix: "", configFlag: "" };
const BESIDE_AN_APP: EdgeNames = {
  wrangler: "wrangler.edge.toml",
  worker: "edge.ts",
  suffix: ":edge",
  configFlag: " --config wrangler.edge.toml",
};

/** The project's wrangler config. */
export interface WranglerConfig {
  readonly file: (typeof WRANGLER_FILES)[number];
  readonly text: string;
}

/** The one that wrangler reads; `null` if there is none. */
export function wranglerConfigIn(folder: string): WranglerConfig | null {
  const file = WRANGLER_FILES.find((each) => existsSync(join(folder, each)));
  if (file === undefined) return null;
  try {
    return { file, text: readFileSync(join(folder, file), "utf8") };
  } catch (cause) {
    throw new ProjectFileError(join(folder, file), cause);
  }
}

/** `app`: the app that is a worker itself; `null` for none. */
export function namesFor(app: object | null): EdgeNames {
  return app === null ? ALONE : BESIDE_AN_APP;
}

/** The scripts of a project for its edge. `behind`: the wrangler config of the worker that it asks; `null` for an address. */
export function scriptsFor(
  { wrangler, configFlag }: EdgeNames,
  runner: Runner,
  behind: WranglerConfig["file"] | null,
): Readonly<Record<EdgeScript, string>> {
  return {
    test: runner === "vitest" ? "vitest run test/edge.test.ts" : "node --test edge-test.mjs",
    dev: behind === null ? "tidemark dev" : `wrangler dev -c ${wrangler} -c ${behind}`,
    check: `tidemark check${configFlag}`,
    deploy: `wrangler deploy${configFlag}`,
  };
}

export type EdgeScript = "test" | "dev" | "check" | "deploy";
