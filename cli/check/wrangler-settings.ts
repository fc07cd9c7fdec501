import { existsSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { domainToASCII } from "node:url";
import { aliasesOf, isWranglerConfig, whyUnread } from "../../local/config/wrangler-config.ts";
import { builtConfigIn } from "../../package/built-config.ts";
import { COMPATIBILITY_DATE } from "../../package/compatibility-date.ts";
import { EDGE_VARIABLES_FILE, EDGE_WRANGLER_FILE, WRANGLER_FILES } from "../../package/wrangler-files.ts";
import { BINDING_JSON, BINDING_TOML, PURGE_LOG_JSON, PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import { unknownVariables, unknownVariableText, WORKERS_VARIABLES } from "../../wire/text/unknown-variable.ts";
import { type Finding, problem, warning } from "./check-report.ts";

/** The parts of one environment of a wrangler config that the check needs, with wrangler's names. */
export interface WranglerSettings {
  /** `null` for the top level. */
  readonly environment: string | null;
  /** The worker's entry, an absolute path. */
  readonly main: string | undefined;
  readonly minify: boolean;
  readonly keepNames: boolean;
  readonly compatibilityDate: string | undefined;
  readonly compatibilityFlags: readonly string[];
  readonly define: Record<string, string>;
  /** In esbuild's words. */
  readonly alias: Record<string, string>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** What `env` has of them and, on this machine, of secrets. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The names of its service bindings. */
  readonly services: readonly string[];
  /** The hosts of its routes; `null` if it has none. A host may begin with a star. */
  readonly routedHosts: readonly string[] | null;
  readonly isOnWorkersDev: boolean;
  /** Whether Cloudflare answers from its own cache in front of the worker. */
  readonly isCached: boolean;
  readonly purgeLog: PurgeLogBinding | null;
  readonly migrations: readonly Migration[];
  /** What its worker exports, by name: wrangler's other way to create classes, which excludes migrations. */
  readonly exports: Readonly<Record<string, ExportSettings>>;
  /** The app's config, from the folder, which `wrangler deploy` would take in place of this one; `null` for none. */
  readonly replacedBy: string | null;
}

interface ExportSettings {
  readonly type: string;
  /** Default `created`. */
  readonly state?: string;
  readonly storage?: string;
  readonly cache?: { readonly enabled: boolean };
}

interface PurgeLogBinding {
  readonly class_name: string;
  /** The worker that has the class, if it is another worker. */
  readonly script_name?: string;
}

interface Migration {
  readonly new_classes?: readonly string[];
  readonly new_sqlite_classes?: readonly string[];
  readonly renamed_classes?: readonly { readonly from: string; readonly to: string }[];
  readonly deleted_classes?: readonly string[];
  readonly transferred_classes?: readonly { readonly from: string; readonly to: string }[];
}

/** The check cannot begin: there is no wrangler config, or it cannot be read. */
export class WranglerConfigError extends Error {
  override readonly name = "WranglerConfigError";
}

/** Reads all environments of a wrangler config, or the one named. Throws `WranglerConfigError`. */
export async function readWranglerSettings(file: string, only: string | null): Promise<readonly WranglerSettings[]> {
  if (!existsSync(file)) throw new WranglerConfigError(noConfig(file));
  // Wrangler reads nothing from a file with another ending, and reports no error.
  if (!isWranglerConfig(file)) {
    const endings =
      "a wrangler config ends with .toml, .json or .jsonc, and a site's rules with .ts, .mts, .js or .mjs";
    throw new WranglerConfigError(`${file} cannot be checked: ${endings}. Name such a file with --config.`);
  }
  // Loading wrangler takes most of a second, so only the check loads it.
  const { unstable_getVarsForDev: variablesHere, unstable_readConfig: readConfig } = await import("wrangler");
  const isBesideApp = basename(file) === EDGE_WRANGLER_FILE && existsSync(join(dirname(file), EDGE_VARIABLES_FILE));
  const envFiles = isBesideApp ? [EDGE_VARIABLES_FILE] : undefined; // in place of those that wrangler finds
  const read = (environment: string | null): WranglerSettings & { readonly environments: readonly string[] } => {
    // Without `env` it would be the environment that the variable CLOUDFLARE_ENV names.
    const config = readConfig({ config: file, env: environment ?? "" }, { hideWarnings: true });
    const exports: WranglerSettings["exports"] = config.exports ?? {}; // older versions of wrangler do not have it
    const routes = [...(config.routes ?? []), ...(config.route === undefined ? [] : [config.route])];
    return {
      environment,
      main: config.main,
      minify: config.minify ?? false,
      keepNames: config.keep_names ?? true,
      compatibilityDate: config.compatibility_date,
      compatibilityFlags: config.compatibility_flags,
      define: config.define,
      alias: aliasesOf(file, { alias: config.alias ?? {}, compatibilityFlags: config.compatibility_flags }),
      vars: config.vars,
      // What this machine has instead of a variable is not deployed.
      variables: {
        // Versions of wrangler before 4.27 do not have it.
        ...plainValues(variablesHere?.(file, envFiles, {}, environment ?? undefined, true, config.secrets) ?? {}),
        ...config.vars,
      },
      services: (config.services ?? []).map(({ binding }: { binding: string }) => binding),
      routedHosts:
        routes.length === 0
          ? null
          : routes.map((route) => hostOfRoute(typeof route === "string" ? route : route.pattern)),
      isOnWorkersDev: config.workers_dev ?? routes.length === 0,
      isCached: exports.default?.cache?.enabled ?? config.cache?.enabled ?? false,
      purgeLog: config.durable_objects.bindings.find((each: { name: string }) => each.name === "PURGE_LOG") ?? null,
      migrations: config.migrations,
      exports,
      replacedBy: replacedBy(file),
      environments: config.definedEnvironments ?? [],
    };
  };
  try {
    const topLevel = read(null);
    if (only !== null && topLevel.environments.includes(only)) return [read(only)];
    if (only !== null)
      throw new Error(`there is no [env.${only}]. Known: ${topLevel.environments.join(", ") || "none"}.`);
    return [topLevel, ...topLevel.environments.map(read)];
  } catch (error) {
    throw new WranglerConfigError(whyUnread(file, error), { cause: error });
  }
}

function replacedBy(file: string): string | null {
  const isFound = (WRANGLER_FILES as readonly string[]).includes(basename(file)); // without --config
  const isDeployed = process.env.WRANGLER_COMMAND !== undefined; // set by wrangler for its build command
  const built = isFound && !isDeployed ? builtConfigIn(dirname(file)) : null;
  return built === null || built.text.includes("PURGE_LOG") ? null : built.file;
}

/** The values of texts, which older versions of wrangler give as they are. */
function plainValues(texts: Readonly<Record<string, string | { readonly value: unknown }>>): Record<string, unknown> {
  const entries = Object.entries(texts);
  return Object.fromEntries(entries.map(([name, text]) => [name, typeof text === "string" ? text : text.value]));
}

function noConfig(file: string): string {
  const command = process.env.WRANGLER_COMMAND; // set by wrangler for its build command
  if (command === undefined)
    return `there is no ${file}. npx tidemark init writes one, or with --server a config for a server of your own.`;
  const words = `there is no ${file} in ${process.cwd()}: wrangler runs its build command in the folder where it was started`;
  return `${words}. Name the config's own folder, for instance: npx wrangler ${command} --cwd apps/edge --config ${file}`;
}

/**
 * What is wrong in one environment of a wrangler config, the site aside. `exported`: what the worker exports; `null` if that
 * is not known, because the worker did not run.
 */
export function wranglerFindings(
  file: string,
  settings: WranglerSettings,
  exported: readonly string[] | null,
): Finding[] {
  const where = placeIn(file, settings);
  const findings = [...compatibilityFindings(file, settings), ...purgeLogFindings(file, settings, exported)];
  if (settings.replacedBy !== null) {
    const words = `wrangler deploy would deploy the app of ${settings.replacedBy} instead, as .wrangler/deploy/config.json says.`;
    findings.push(problem(file, `${words} Call this file wrangler.edge${extname(file)}, and deploy it with --config.`));
  }
  if (settings.routedHosts === null && settings.isOnWorkersDev) {
    const line = isToml(file)
      ? 'routes = [{ pattern = "www.example.com", custom_domain = true }]'
      : '"routes": [{ "pattern": "www.example.com", "custom_domain": true }]';
    const words = "there are no routes, so the worker is on workers.dev, where the Cache API stores nothing.";
    findings.push(warning(where, `${words} Name your domain: ${line}.`));
  }
  if (settings.isCached) {
    const words = "cache.enabled puts Workers Cache before the edge, which goes on with old pages after a purge";
    findings.push(problem(where, `${words}, and does not know whose they are. Remove it.`));
  }
  if (settings.vars.TIDEMARK_TOKEN !== undefined) {
    const words =
      "vars has TIDEMARK_TOKEN, so everybody who can read the file can read the token. Remove it, make another token, and set";
    findings.push(problem(where, `${words} it with npx wrangler secret put TIDEMARK_TOKEN.`));
  }
  for (const unknown of unknownVariables(settings.vars, WORKERS_VARIABLES)) {
    const found = unknown.meant === null ? warning : problem;
    findings.push(found(`${where}, vars`, unknownVariableText(unknown)));
  }
  return findings;
}

/** The place of an environment's finding, for a person. */
export function placeIn(file: string, { environment }: Pick<WranglerSettings, "environment">): string {
  return environment === null ? file : `${file}, env.${environment}`;
}

/** The first date from which isolates can call the purge log's methods. */
const MIN_COMPATIBILITY_DATE = "2024-04-03";

/** Flags that take away what the runtime has since that date or an earlier one. */
const HARMFUL_FLAGS: readonly string[] = ["no_rpc", "no_http_headers_getsetcookie"];

function compatibilityFindings(file: string, settings: WranglerSettings): Finding[] {
  const where = placeIn(file, settings);
  const { compatibilityDate: date, compatibilityFlags } = settings;
  const findings = compatibilityFlags
    .filter((flag) => HARMFUL_FLAGS.includes(flag))
    .map((flag) => problem(where, `compatibility_flags has ${flag}, with which the edge does not work. Remove it.`));
  if (date !== undefined && date >= MIN_COMPATIBILITY_DATE) return findings;
  const words =
    date === undefined
      ? "there is no compatibility_date, so the deployment would fail"
      : `compatibility_date is ${date}, but the edge works only from ${MIN_COMPATIBILITY_DATE} on`;
  const name = isToml(file) ? "compatibility_date =" : '"compatibility_date":';
  return [problem(where, `${words}. Write ${name} "${COMPATIBILITY_DATE}".`), ...findings];
}

function purgeLogFindings(file: string, settings: WranglerSettings, exported: readonly string[] | null): Finding[] {
  const where = placeIn(file, settings);
  const { purgeLog, migrations, exports, environment, main } = settings;
  const usesExports = Object.values(exports).some(({ type }) => type === DURABLE_OBJECT);
  if (purgeLog === null) {
    const inherited = environment === null ? "" : " Environments do not inherit bindings.";
    const toml = environment === null ? PURGE_LOG_TOML : linesOfEnvironment(environment);
    const json = environment === null ? PURGE_LOG_JSON : BINDING_JSON;
    // Where exports create the classes, there must be no migration beside them.
    const [binding, lines] = isToml(file) ? [BINDING_TOML, toml] : [BINDING_JSON, `${json}\n`];
    const words = `there is no binding PURGE_LOG, so the edge could not be purged and would store nothing.${inherited}`;
    return [problem(where, `${words} Add:\n\n${usesExports && environment === null ? binding : lines}`)];
  }
  if (purgeLog.script_name !== undefined) return [];
  const { class_name: name } = purgeLog;
  const findings: Finding[] = [];
  if (exported?.includes(name) === false) {
    const words = `the binding PURGE_LOG names the class ${name}, which ${basename(main ?? "the worker")} does not export`;
    findings.push(problem(where, `${words}. Add there: export { PurgeLog } from "tidemark/worker";`));
  }
  if (usesExports) return [...findings, ...exportFindings(file, settings, name)];
  const classes = classesAfter(migrations);
  const madeWithoutSqlite = classes.get(name);
  const laterNames = new Set([name]);
  for (const { from, to } of migrations.flatMap((each) => each.renamed_classes ?? [])) {
    if (laterNames.has(from)) laterNames.add(to);
  }
  const renamed = [...laterNames].find((each) => classes.has(each));
  if (typeof madeWithoutSqlite === "string") {
    const made = madeWithoutSqlite === name ? name : `${madeWithoutSqlite}, now ${name},`;
    const words = `new_classes makes ${made} without SQLite, which the purge log needs`;
    const list = `["${madeWithoutSqlite}"]`;
    const line = isToml(file) ? `new_sqlite_classes = ${list}` : `"new_sqlite_classes": ${list}`;
    findings.push(problem(where, `${words}. Write ${line} instead.`));
  } else if (madeWithoutSqlite === undefined && renamed !== undefined) {
    const words = `the migrations rename the class ${name} to ${renamed}, so the deployment would fail`;
    findings.push(problem(where, `${words}. Let the binding PURGE_LOG name ${renamed}.`));
  } else if (madeWithoutSqlite === undefined) {
    const tag = `v${migrations.length + 1}`;
    const toml = `[[migrations]]\ntag = "${tag}"\nnew_sqlite_classes = ["${name}"]`;
    const [place, lines] = isToml(file)
      ? ["", toml]
      : [" to the list migrations", `{ "tag": "${tag}", "new_sqlite_classes": ["${name}"] }`];
    const words = `after all migrations there is no class ${name}, so the deployment would fail`;
    findings.push(problem(where, `${words}. Add${place}:\n\n${lines}`));
  }
  return findings;
}

/**
 * The classes that there are after the migrations, each with the name by which `new_classes` made it without SQLite; `null`
 * for one with SQLite or, as far as the file tells, with any storage: another worker made it, or a migration that was
 * deleted since. No migration gives SQLite to a class that there is already. The order within a migration is wrangler's.
 */
function classesAfter(migrations: readonly Migration[]): ReadonlyMap<string, string | null> {
  const classes = new Map<string, string | null>();
  for (const each of migrations) {
    for (const name of each.deleted_classes ?? []) classes.delete(name);
    for (const { from, to } of each.renamed_classes ?? []) {
      classes.set(to, classes.get(from) ?? null);
      classes.delete(from);
    }
    for (const name of each.new_classes ?? []) classes.set(name, name);
    for (const name of each.new_sqlite_classes ?? []) if (!classes.has(name)) classes.set(name, null);
    for (const { to } of each.transferred_classes ?? []) classes.set(to, null);
  }
  return classes;
}

/** Whether `exports` creates the class, with SQLite. */
function exportFindings(file: string, settings: WranglerSettings, name: string): Finding[] {
  const { type, state = "created", storage } = settings.exports[name] ?? {};
  const where = placeIn(file, settings);
  if (type !== DURABLE_OBJECT || !["created", "expecting-transfer"].includes(state)) {
    const entry = isToml(file)
      ? `${name} = { type = "${DURABLE_OBJECT}", storage = "sqlite" }`
      : `"${name}": { "type": "${DURABLE_OBJECT}", "storage": "sqlite" }`;
    const words = `exports does not create the class ${name}, so the deployment would fail`;
    return [problem(where, `${words}. Add to exports:\n\n${entry}`)];
  }
  if (storage === "sqlite") return [];
  const line = isToml(file) ? 'storage = "sqlite"' : '"storage": "sqlite"';
  return [
    problem(where, `exports makes ${name} without SQLite, which the purge log needs. Write ${line} for a new class.`),
  ];
}

/** The type of such an entry of `exports`. */
const DURABLE_OBJECT = "durable-object";

/** Whether lines for this file are TOML; otherwise they are JSON. */
export function isToml(file: string): boolean {
  return file.endsWith(".toml");
}

function linesOfEnvironment(environment: string): string {
  return BINDING_TOML.replace("[[", `[[env.${environment}.`);
}

/** `www.example.com/*` and `https://www.example.com/shop/*` are for the same host, which `hosts` has in ASCII. */
function hostOfRoute(pattern: string): string {
  const [, star, name] = /^(?:https?:\/\/)?(\*?)([^/]*)/.exec(pattern)!;
  return star! + (domainToASCII(name!) || name!);
}
