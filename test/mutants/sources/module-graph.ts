import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compileFunction } from "node:vm";
import { transform } from "esbuild";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const requireHere = createRequire(import.meta.url);

/** A module as a function that runs its body anew at each call. */
interface Compiled {
  readonly run: (module: { exports: unknown }, exports: unknown, require: (name: string) => unknown) => void;
  /** The other modules of the graph that it imports, by path. */
  readonly imports: readonly string[];
}

type Instances = Map<string, { exports: unknown }>;

/** The exports of the modules of one instance of the graph, by their paths. */
export type Modules = (path: string) => unknown;

/**
 * The modules that an entry imports, each transformed and compiled once. The caller may give one module another text in
 * an instance of the graph: that module and those that import it, directly or not, run anew. All others never meet the
 * changed code by themselves, and run once for all instances.
 */
export class ModuleGraph {
  readonly #modules: ReadonlyMap<string, Compiled>;
  /** The source texts by their paths. */
  readonly texts: ReadonlyMap<string, string>;
  /** By path, the modules that import it. */
  readonly #importers: ReadonlyMap<string, readonly string[]>;
  readonly #shared: Instances = new Map();

  private constructor(modules: ReadonlyMap<string, Compiled>, texts: ReadonlyMap<string, string>) {
    this.#modules = modules;
    this.texts = texts;
    this.#importers = importersIn(modules);
  }

  /** Loads the modules that these files import, directly or not. Paths are from the project's root. */
  static async load(entries: readonly string[]): Promise<ModuleGraph> {
    const modules = new Map<string, Compiled>();
    const texts = new Map<string, string>();
    for (let paths = [...entries]; paths.length > 0; ) {
      const loaded = await Promise.all(
        paths.map(async (path) => {
          const text = await readFile(join(ROOT, path), "utf8");
          return { path, text, compiled: await compile(path, text) };
        }),
      );
      for (const { path, text, compiled } of loaded) {
        modules.set(path, compiled);
        texts.set(path, text);
      }
      const imported = loaded.flatMap(({ compiled }) => compiled.imports);
      paths = [...new Set(imported)].filter((path) => !modules.has(path));
    }
    return new ModuleGraph(modules, texts);
  }

  /** Runs what a change reaches anew, if there is one. */
  async instantiate(changed?: { readonly path: string; readonly text: string }): Promise<Modules> {
    const modules = new Map(this.#modules);
    if (changed) modules.set(changed.path, await compile(changed.path, changed.text));
    const reached = changed ? this.reachedBy(changed.path) : new Set();
    const own: Instances = new Map();
    const exportsOf = (path: string): unknown => {
      const instances = reached.has(path) ? own : this.#shared;
      const known = instances.get(path);
      if (known) return known.exports;
      const compiled = modules.get(path);
      if (!compiled) throw new Error(`${path} is not in the graph of modules`);
      const module = { exports: {} };
      instances.set(path, module); // Registered before it runs, so that modules may import each other.
      const require = (name: string) => {
        const file = fileOf(name, path);
        return file === null ? requirePackage(name, path) : exportsOf(file);
      };
      compiled.run(module, module.exports, require);
      return module.exports;
    };
    return exportsOf;
  }

  /** A module and all that import it, directly or not. */
  reachedBy(path: string): ReadonlySet<string> {
    const reached = new Set([path]);
    for (const each of reached) for (const importer of this.#importers.get(each) ?? []) reached.add(importer);
    return reached;
  }
}

function importersIn(modules: ReadonlyMap<string, Compiled>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [path, { imports }] of modules) {
    for (const imported of imports) importers.set(imported, [...(importers.get(imported) ?? []), path]);
  }
  return importers;
}

async function compile(path: string, text: string): Promise<Compiled> {
  const { code } = await transform(text, {
    loader: path.endsWith(".json") ? "json" : "ts",
    format: "cjs",
    platform: "node",
    target: "esnext",
    sourcefile: path,
    // A module starts threads from files beside it.
    define: { "import.meta.url": JSON.stringify(pathToFileURL(join(ROOT, path)).href) },
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: "silent",
  });
  const run = compileFunction(code, ["module", "exports", "require"], { filename: join(ROOT, path) });
  const imports = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].flatMap(([, name]) => fileOf(name!, path) ?? []);
  return { run: run as Compiled["run"], imports };
}

/** The file of this project that a module imports by a relative path, or by a name of its workspace; null for a package. */
function fileOf(name: string, importer: string): string | null {
  if (name.startsWith("#")) return relative(ROOT, createRequire(join(ROOT, importer)).resolve(name));
  return name.startsWith(".") ? join(dirname(importer), name) : null;
}

/**
 * Packages are never mutated, so all instances share them. Importing this package by its own name would load its build.
 */
function requirePackage(name: string, importer: string): unknown {
  if (/^tidemark($|\/)/.test(name)) throw new Error(`${importer} imports ${name}, which no mutation would reach`);
  return requireHere(name);
}
