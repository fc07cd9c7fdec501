import { existsSync } from "node:fs";
import { join } from "node:path";

/** A package.json, as far as it tells of tools. */
interface NamedTools {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What runs the test of the edge: vitest, or Node itself in a project whose own runner is another one. */
export type Runner = "vitest" | "node";

/**
 * A project's tests stay as they are: where something else than vitest runs them, the edge's test is one for Node, in a
 * file that Jest and Mocha do not take for theirs.
 */
export function runnerFor(manifest: NamedTools | null): Runner {
  const has = (name: string) => name in { ...manifest?.dependencies, ...manifest?.devDependencies };
  if (has("vitest")) return "vitest";
  const hasOther = /\b(jest|mocha|ava|tap|node\b.* --test)\b/.test(manifest?.scripts?.test ?? "");
  return hasOther || has("jest") || has("mocha") ? "node" : "vitest";
}

/**
 * How a module of the project is imported by its neighbour: with its ending, unless a tsconfig is there that forbids that
 * (TS5097). `.js` stands for the same file in every kind of resolution. `tsconfig`: its text; `null` for none.
 */
export function endingOfImports(tsconfig: string | null): ".ts" | ".js" {
  return tsconfig === null || /"(allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/.test(tsconfig)
    ? ".ts"
    : ".js";
}

/** The names of the edge's files and scripts. Beside an app that is a worker itself, they are others than the app's. */
export interface EdgeNames {
  readonly wrangler: "wrangler.toml" | "wrangler.edge.toml";
  readonly worker: "worker.ts" | "edge.ts";
  /** Behind the names of its scripts. */
  readonly suffix: "" | ":edge";
}

const ALONE: EdgeNames = { wrangler: "wrangler.toml", worker: "worker.ts", suffix: "" };
const BESIDE_AN_APP: EdgeNames = { wrangler: "wrangler.edge.toml", worker: "edge.ts", suffix: ":edge" };

/** `own`: the text of the wrangler.toml that is there; `null` for none. */
export function namesFor(folder: string, own: string | null): EdgeNames {
  const hasOtherForm = ["wrangler.json", "wrangler.jsonc"].some((file) => existsSync(join(folder, file)));
  const isOfApp = own !== null && /^\s*main\s*=/m.test(own) && !own.includes("PURGE_LOG");
  return hasOtherForm || isOfApp ? BESIDE_AN_APP : ALONE;
}

/** The scripts of a project for its edge. */
export function scriptsFor({ wrangler, suffix }: EdgeNames, runner: Runner): Readonly<Record<EdgeScript, string>> {
  const config = suffix === "" ? "" : ` --config ${wrangler}`;
  return {
    test: runner === "vitest" ? "vitest run test/edge.test.ts" : "node --test edge-test.mjs",
    dev: "tidemark dev",
    check: `tidemark check${config}`,
    deploy: `wrangler deploy${config}`,
  };
}

export type EdgeScript = "test" | "dev" | "check" | "deploy";
