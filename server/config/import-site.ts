import { existsSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigFileError } from "../../cdn/config/config-file-error.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";

/*
 * A config file is a module that Node itself imports: it reads TypeScript by leaving the types out, and needs no bundler.
 * The file imports `tidemark/worker`, of which only `defineSite` is run here. Two hooks make that work: the package need
 * not be installed in the file's folder, and the runtime's own modules, which Node does not have, are empty.
 */
const OWN_WORKER = import.meta.url.endsWith(".ts")
  ? new URL("../../worker/package.ts", import.meta.url).href
  : import.meta.resolve("tidemark/worker");
const RUNTIME_MODULE = "data:text/javascript,export class DurableObject {}";

let hasHooks = false;

function addHooks(): void {
  if (hasHooks) return;
  hasHooks = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier === "tidemark/worker") return { url: OWN_WORKER, shortCircuit: true };
      if (specifier.startsWith("cloudflare:")) return { url: RUNTIME_MODULE, shortCircuit: true };
      return next(specifier, context);
    },
  });
}

/** The rules in a config file, not yet checked. Throws `ConfigFileError`. */
export async function importSite(file: string): Promise<SiteInput> {
  if (!existsSync(file)) {
    throw new ConfigFileError(
      `there is no ${file}. Name another file with --config, or write one as the README shows.`,
    );
  }
  addHooks();
  const url = pathToFileURL(resolve(file));
  url.search = String(statSync(file).mtimeMs); // so that a changed file is read anew
  let module: { default?: unknown };
  try {
    module = (await import(url.href)) as { default?: unknown };
  } catch (error) {
    throw new ConfigFileError(`${file}: ${(error as Error).message}`, { cause: error });
  }
  const site = module.default;
  if (typeof site !== "object" || site === null || !("origin" in site)) {
    throw new ConfigFileError(`${file}: the file must end in export default defineSite({ origin: …, … })`);
  }
  return site as SiteInput;
}
