import { realpathSync } from "node:fs";
import { isBuiltin, registerHooks } from "node:module";
import { extname, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConfigFileError, DEFAULT_CONFIG, expectConfigFile, whatItThrew } from "../../package/config-file-error.ts";
import { importConfig } from "../../package/import-config.ts";
import { ownPackage } from "../../package/own-package.ts";
import { unknownEntry } from "../../wire/text/unknown-entry.ts";
import { withValue } from "../../worker/site/site-error.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { stateOfFile } from "../startup/watched-files.ts";

/*
 * A config file is a module that Node itself imports: it reads TypeScript by leaving the types out, and needs no bundler.
 * The file imports `tidemark/worker`, of which only `defineSite` is run here. Two hooks make that work: the package need
 * not be installed in the file's folder, and the runtime's own modules, which Node does not have, are empty.
 */
const OWN_WORKER = new URL(import.meta.url).pathname.endsWith(".ts")
  ? new URL("../../worker/package.ts", import.meta.url).href
  : import.meta.resolve("tidemark/worker");
const RUNTIME_MODULE = "data:text/javascript,export class DurableObject {} export class RpcTarget {}";

/** Gets each file of the owner just before it is read: the config, and what it imports outside of packages. */
type OnFile = (path: string, state: string) => void;

export interface ImportedSite {
  /** The rules, not yet checked. */
  readonly site: SiteInput;
  /** Whether the config imports nothing but this package and what is Node's own, so that it shares nothing with others. */
  readonly isAlone: boolean;
}

/** How the owner's files were when they were first read. */
const ownersFiles = new Map<string, string>();
let importsMore = false;
let note: (path: string) => void = () => undefined;
let hasHooks = false;

function addHooks(): void {
  if (hasHooks) return;
  hasHooks = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === "tidemark/worker") return { url: OWN_WORKER, shortCircuit: true };
      if (specifier.startsWith("cloudflare:")) return { url: RUNTIME_MODULE, shortCircuit: true };
      const isByOwner = isOwners(context.parentURL);
      importsMore ||= isByOwner && !isBuiltin(specifier);
      const fault = isByOwner ? unknownEntry(specifier, ownPackage.exports) : null;
      if (fault !== null) throw new Error(fault); // Node would say that the package is missing, which need not be there
      // The file may be missing, or a link, which can lead elsewhere later.
      const named = ADDRESS.test(specifier) ? pathOf(URL.parse(specifier, context.parentURL)) : null;
      if (isByOwner && named !== null) note(named);
      const resolved = next(specifier, context);
      const path = pathOf(new URL(resolved.url));
      if (path === null) return resolved;
      if (isByOwner) note(path);
      // `npm init` makes packages of CommonJS, which Node would take a .ts file for.
      return ownersFiles.has(path) && path.endsWith(".ts") ? { ...resolved, format: "module-typescript" } : resolved;
    },
  });
}

/** The ends of the names of files that Node imports as code. */
const MODULES = ["", ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/** What names a file, and no package. */
const ADDRESS = /^(?:\.{0,2}\/|file:)/;

/** The path of a file outside of packages; `null` for all else. */
function pathOf(url: URL | null): string | null {
  if (url?.protocol !== "file:" || url.pathname.includes("/node_modules/")) return null;
  return fileURLToPath(`file://${url.pathname}`);
}

/** Whether a file was imported by the config, or by a file that it imports. */
function isOwners(parent: string | undefined): boolean {
  return parent?.startsWith("file:") === true && ownersFiles.has(fileURLToPath(parent.replace(/\?.*$/, "")));
}

/**
 * The site in a config file. `origin` stands in for one that it lacks. Throws `ConfigFileError`. A thread imports one config
 * at a time, and another one only if those before were alone.
 */
export async function importSite(
  file: string,
  origin?: string,
  onFile: OnFile = () => undefined,
): Promise<ImportedSite> {
  expectConfigFile(file);
  if (!MODULES.includes(extname(realpathSync(file)))) {
    throw new ConfigFileError(
      `${file} has no name of a module. Write the site as one, with export default, into a file like ${DEFAULT_CONFIG}.`,
    );
  }
  const noted = new Set<string>();
  note = (path) => {
    if (noted.has(path)) return;
    noted.add(path);
    const state = ownersFiles.get(path) ?? stateOfFile(path);
    ownersFiles.set(path, state);
    onFile(path, state);
  };
  addHooks();
  note(resolve(file));
  note(realpathSync(file)); // what it imports names this one as its importer
  let module: { default?: unknown };
  try {
    module = await importConfig(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new ConfigFileError(`${placeIn(file, error)}: ${whatItThrew(error)}`, { cause: error });
  }
  const site = module.default as Partial<SiteInput> | null | undefined;
  if (typeof site !== "object" || site === null) {
    throw new ConfigFileError(`${file}: the file must end in export default defineSite({ origin: …, … })`);
  }
  if (!["string", "object"].includes(typeof (site.origin ?? origin))) {
    const found = withValue("name it in this file, or with --origin or TIDEMARK_ORIGIN", site.origin);
    throw new ConfigFileError(`${file}: origin is required: ${found}`);
  }
  return { site: { ...site, origin: site.origin ?? origin! }, isAlone: !importsMore };
}

/** The config, with the line of it, or of a file that it imports, where an error began, if the error tells. */
function placeIn(file: string, error: unknown): string {
  const stack = (error instanceof Error && error.stack) || "";
  for (const line of stack.split("\n")) {
    const [, where, number] = /((?:file:\/\/)?\/.*?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [];
    if (where === undefined) continue;
    const path = where.startsWith("file:") ? fileURLToPath(where) : where;
    if (path === resolve(file) || path === realpathSync(file)) return `${file}:${number}`;
    if (ownersFiles.has(path)) return `${file}: ${relative("", path)}:${number}`;
  }
  return file;
}
