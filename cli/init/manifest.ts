import type { EdgeNames, EdgeScript, NamedTools, Runner } from "./found-tools.ts";

/** The parts of a package.json that `tidemark init` changes. */
export interface Manifest extends NamedTools {
  readonly name?: string;
  readonly allowScripts?: Readonly<Record<string, boolean>>;
  readonly workspaces?: unknown;
  readonly [key: string]: unknown;
}

export interface ManifestChange {
  readonly manifest: Manifest;
  /** The keys that were added or replaced, like `scripts.check`. */
  readonly changed: readonly string[];
  /** The keys whose existing values differ from those that would have been written. */
  readonly kept: readonly string[];
}

/** What is added to a project for its edge. */
export interface EdgeTools extends Pick<EdgeNames, "suffix"> {
  readonly versions: Versions;
  readonly commands: Readonly<Record<EdgeScript, string>>;
  readonly runner: Runner;
  /** Whether the edge's files have a tsconfig.json. */
  readonly hasTsconfig: boolean;
  /** Whether this package.json decides which packages run scripts when they are installed. */
  readonly decidesOnScripts: boolean;
}

/** The versions of added packages. */
export interface Versions {
  /** The version of this package. */
  readonly own: string;
  /** The versions of the tools. */
  readonly tools: Readonly<Record<string, string>>;
}

/** The parts of the installed wrangler's manifest that decide on other versions. */
export interface InstalledWrangler {
  readonly version: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * The versions of the tools: those that this package is tested with, but wrangler as it is installed, because another package
 * of the app may need that one, and the runtime's types that fit it. npm installs nothing if they conflict. `wrangler`: `null`
 * if none is installed.
 */
export function toolsBeside(
  wrangler: InstalledWrangler | null,
  tested: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return {
    ...tested,
    [RUNTIME_TYPES]: wrangler?.peerDependencies?.[RUNTIME_TYPES] ?? `^${tested[RUNTIME_TYPES]}`,
    ...(wrangler !== null && { wrangler: `^${wrangler.version}` }),
  };
}

/** The test script that `npm init` writes if there are no tests. */
const NO_TEST = /^echo "Error: no test specified"/;

const RUNTIME_TYPES = "@cloudflare/workers-types";

/** The tools that the project needs. vitest brings its vite only if the package manager installs peers, as npm does. */
const TOOLS = [
  RUNTIME_TYPES,
  "@types/node",
  "esbuild",
  "miniflare",
  "typescript",
  "vite",
  "vitest",
  "wrangler",
] as const;

/**
 * The packages below the edge's tools that have install scripts. The tools work without them, but at each install npm warns
 * and pnpm fails until the project allows or denies them.
 */
export const WITH_INSTALL_SCRIPTS = ["esbuild", "workerd"] as const;

/** Adds what the project needs to a package.json; `null` if there is none. Existing values stay. */
export function completedManifest(
  existing: Manifest | null,
  name: string,
  { versions, suffix, commands, runner, hasTsconfig, decidesOnScripts }: EdgeTools,
): ManifestChange {
  const base = existing ?? { name, private: true, type: "module" };
  const changed: string[] = [];
  const kept: string[] = [];
  const test = base.scripts?.test;
  const { test: testScript, ...others } = commands;
  const isTestFree = test === undefined || NO_TEST.test(test) || test === testScript;
  const wanted = {
    [isTestFree ? "test" : "test:edge"]: testScript,
    ...Object.fromEntries(Object.entries(others).map(([key, command]) => [`${key}${suffix}`, command])),
  };
  const scripts: Record<string, string> = { ...base.scripts };
  for (const [key, command] of Object.entries(wanted)) {
    const found = scripts[key];
    if (found === command) continue;
    if (found !== undefined && !(key === "test" && isTestFree)) kept.push(`scripts.${key}`);
    else {
      scripts[key] = command;
      changed.push(`scripts.${key}`);
    }
  }
  const dependencies = { ...base.dependencies };
  const devDependencies = { ...base.devDependencies };
  const has = (each: string) => each in dependencies || each in devDependencies;
  if (!has("tidemark")) {
    dependencies.tidemark = `^${versions.own}`;
    changed.push("dependencies.tidemark");
  }
  const needsVitest = runner === "vitest" && !has("vitest");
  const unneeded = [...(needsVitest ? [] : ["vite", "vitest"]), ...(hasTsconfig ? [] : ["typescript"])];
  for (const tool of TOOLS.filter((each) => !has(each) && !unneeded.includes(each))) {
    devDependencies[tool] = versions.tools[tool]!;
    changed.push(`devDependencies.${tool}`);
  }
  const completed = { ...base, scripts, dependencies, devDependencies };
  const { manifest, added } = decidesOnScripts ? withDeniedScripts(completed) : { manifest: completed, added: [] };
  return { manifest, changed: existing === null ? [] : [...changed, ...added], kept };
}

/** Whether one of these decisions, like `esbuild` or `esbuild@0.25.0`, is on the package of this name. */
export function isDecided(name: string, decisions: readonly string[]): boolean {
  return decisions.some((each) => each === name || each.startsWith(`${name}@`));
}

/** A package.json that denies the scripts on which it does not decide, and the keys that were added. */
export function withDeniedScripts(manifest: Manifest): { readonly manifest: Manifest; readonly added: string[] } {
  const allowScripts = { ...manifest.allowScripts };
  const undecided = WITH_INSTALL_SCRIPTS.filter((name) => !isDecided(name, Object.keys(allowScripts)));
  for (const name of undecided) allowScripts[name] = false;
  return { manifest: { ...manifest, allowScripts }, added: undecided.map((name) => `allowScripts.${name}`) };
}

const BYTE_ORDER_MARK = "\ufeff";

/** The text of a package.json, with the indentation, line ends and byte order mark of the one before; `null` for none. */
export function manifestText(manifest: Manifest, before: string | null): string {
  const indentation = /^\ufeff?\{\s*?\n([ \t]+)/.exec(before ?? "")?.[1] ?? "  ";
  const text = `${JSON.stringify(manifest, null, indentation)}\n`;
  const mark = before?.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  return mark + (before?.includes("\r\n") ? text.replaceAll("\n", "\r\n") : text);
}

/** A valid name for a package and a worker: the given one in plain letters or, if that is unusable, the host's. */
export function validName(name: string, host: string): string {
  const usable = (text: string) =>
    text
      .toLowerCase()
      .normalize("NFD")
      .replaceAll(/\p{M}/gu, "")
      .replace(/^@[^/]*\//, "")
      .replaceAll(/[^a-z0-9]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, 54);
  return usable(name) || usable(host);
}
