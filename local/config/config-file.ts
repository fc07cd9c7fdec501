import { build, type Plugin } from "esbuild";
import { ConfigFileError, expectConfigFile, whatItThrew } from "../../package/config-file-error.ts";
import { importConfig } from "../../package/import-config.ts";
import type { SiteInput } from "../../worker/site/site-input.ts";
import { bundlingFault, configEntry, ownWorker, WORKER_OPTIONS } from "../runtime/bundle.ts";

/** The part of a site that the harness reads; the worker reads the rest itself. */
export interface ConfiguredSite {
  /** `null` for a worker instead. */
  readonly origin: string | null;
  readonly dashboard: boolean;
}

/** What outranks the file. */
interface Overrides {
  readonly origin?: string | undefined;
  readonly publicUrl?: string | undefined;
}

/** Here nobody knows what it has. */
const ENV = `
  export const env = new Proxy({}, {
    get(_, name) {
      throw new Error("it reads " + String(name) + " of env, which only a wrangler config sets: run npx wrangler dev, " +
        "or name the wrangler config for startCdn");
    },
  });`;

/** Replaces the runtime's own modules, which the worker's code imports but Node does not have. Of it, only `env` may run. */
const withoutRuntime: Plugin = {
  name: "without-runtime",
  setup(build) {
    build.onResolve({ filter: /^cloudflare:/ }, ({ path }) => ({ path, namespace: "runtime" }));
    build.onLoad({ filter: /.*/, namespace: "runtime" }, () => ({
      contents: `export class DurableObject {} export class RpcTarget {} ${ENV}`,
    }));
  },
};

/**
 * Node has URLPattern since version 24. On an older one the patterns of routes are not checked here, but by the worker
 * when it starts.
 */
const OWN_URL_PATTERN = "const URLPattern = globalThis.URLPattern ?? class {};";

/** Reads and checks the site's rules, with what outranks them. Throws `ConfigFileError`. */
export async function loadSite(file: string, overrides: Overrides = {}, withinMs?: number): Promise<ConfiguredSite> {
  expectConfigFile(file);
  let module: { default?: unknown; compileSite: (site: SiteInput, overrides: Overrides) => unknown };
  const fault = (error: unknown) => new ConfigFileError(faultOf(file, error), { cause: withoutData(error) });
  try {
    const result = await build({
      ...WORKER_OPTIONS,
      banner: { js: OWN_URL_PATTERN },
      stdin: configEntry(file),
      plugins: [ownWorker, withoutRuntime],
    });
    const code = Buffer.from(result.outputFiles[0]!.text).toString("base64");
    module = (await importConfig(`data:text/javascript;base64,${code}`, withinMs)) as typeof module;
  } catch (error) {
    throw fault(error);
  }
  const site = module.default as Partial<SiteInput> | undefined;
  if (site?.origin === undefined) {
    throw new ConfigFileError(`${file}: the file must end in export default defineSite({ origin: …, … })`);
  }
  const origin = addressIn(site.origin);
  if (origin === undefined) {
    const words = 'origin must be the address of the site, like "https://origin.example.com"';
    throw new ConfigFileError(`${file}: ${words}; found ${JSON.stringify(site.origin)}`);
  }
  try {
    module.compileSite(site as SiteInput, overrides); // for the mistakes that only the whole of the rules shows
  } catch (error) {
    throw fault(error);
  }
  return { origin, dashboard: site.dashboard !== false };
}

/** The address of an origin; `null` for a service, `undefined` for what is neither. */
function addressIn(origin: unknown): string | null | undefined {
  if (typeof origin === "string") return origin;
  if (typeof origin !== "object" || origin === null) return undefined;
  return "url" in origin ? [origin.url].flat().find((each) => typeof each === "string") : null;
}

/**
 * In the stack, each frame of the imported code is a `data:` URL with all of that code, which is useless to a reader.
 */
function withoutData(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const lines = error.stack?.split("\n") ?? [];
  error.stack = lines.filter((line) => !line.includes("data:text/javascript;base64,")).join("\n");
  return error;
}

function faultOf(file: string, error: unknown): string {
  const { errors } = (error ?? {}) as { errors?: unknown };
  const isBuildFailure = Array.isArray(errors) && errors.every((each) => typeof each === "object" && "text" in each);
  return isBuildFailure ? bundlingFault(file, errors) : `${file}: ${whatItThrew(error)}`;
}
