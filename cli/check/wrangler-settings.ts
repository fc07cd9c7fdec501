import { existsSync } from "node:fs";
import { basename } from "node:path";
import { PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import { type Finding, problem, warning } from "./check-report.ts";

/** The parts of one environment of a wrangler config that the check needs, with wrangler's names. */
export interface WranglerSettings {
  /** `null` for the top level. */
  readonly environment: string | null;
  /** The worker's entry, an absolute path. */
  readonly main: string | undefined;
  readonly minify: boolean;
  readonly keepNames: boolean;
  readonly compatibilityFlags: readonly string[];
  readonly define: Record<string, string>;
  readonly alias: Record<string, string>;
  readonly vars: Readonly<Record<string, unknown>>;
  /** The names of its service bindings. */
  readonly services: readonly string[];
  /** The hosts of its routes; `null` if it has none. A host may begin with a star. */
  readonly routedHosts: readonly string[] | null;
  readonly isOnWorkersDev: boolean;
  readonly purgeLog: PurgeLogBinding | null;
  readonly migrations: readonly Migration[];
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
}

/** The check cannot begin: there is no wrangler config, or it cannot be read. */
export class WranglerConfigError extends Error {
  override readonly name = "WranglerConfigError";
}

/** Reads all environments of a wrangler config, or the one named. Throws `WranglerConfigError`. */
export async function readWranglerSettings(file: string, only: string | null): Promise<readonly WranglerSettings[]> {
  if (!existsSync(file))
    throw new WranglerConfigError(
      `there is no ${file}. npx tidemark init writes one, or with --server a config for a server of your own.`,
    );
  // Loading wrangler takes most of a second, so only the check loads it.
  const { unstable_readConfig: readConfig } = await import("wrangler");
  const read = (environment: string | null): WranglerSettings & { readonly environments: readonly string[] } => {
    const config = readConfig(
      { config: file, ...(environment === null ? {} : { env: environment }) },
      { hideWarnings: true },
    );
    const routes = [...(config.routes ?? []), ...(config.route === undefined ? [] : [config.route])];
    return {
      environment,
      main: config.main,
      minify: config.minify ?? false,
      keepNames: config.keep_names ?? true,
      compatibilityFlags: config.compatibility_flags,
      define: config.define,
      alias: config.alias ?? {},
      vars: config.vars,
      services: (config.services ?? []).map(({ binding }: { binding: string }) => binding),
      routedHosts:
        routes.length === 0
          ? null
          : routes.map((route) => hostOfRoute(typeof route === "string" ? route : route.pattern)),
      isOnWorkersDev: config.workers_dev ?? routes.length === 0,
      purgeLog: config.durable_objects.bindings.find((each: { name: string }) => each.name === "PURGE_LOG") ?? null,
      migrations: config.migrations,
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
    throw new WranglerConfigError(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** What is wrong in one environment of a wrangler config, the site aside. `exported`: what the worker exports. */
export function wranglerFindings(file: string, settings: WranglerSettings, exported: readonly string[]): Finding[] {
  const where = placeIn(file, settings);
  const findings = [...purgeLogFindings(file, settings, exported)];
  if (settings.routedHosts === null && settings.isOnWorkersDev) {
    const words =
      "there are no routes, so the worker is on workers.dev, where the Cache API stores nothing. " +
      'Name your domain: routes = [{ pattern = "www.example.com", custom_domain = true }].';
    findings.push(warning(where, words));
  }
  if (settings.vars.TIDEMARK_TOKEN !== undefined) {
    const words =
      "vars has TIDEMARK_TOKEN, so everybody who can read the file can read the token. Remove it, make another token, and set";
    findings.push(problem(where, `${words} it with npx wrangler secret put TIDEMARK_TOKEN.`));
  }
  return findings;
}

/** The place of an environment's finding, for a person. */
export function placeIn(file: string, { environment }: Pick<WranglerSettings, "environment">): string {
  return environment === null ? file : `${file}, env.${environment}`;
}

function purgeLogFindings(file: string, settings: WranglerSettings, exported: readonly string[]): Finding[] {
  const where = placeIn(file, settings);
  const { purgeLog, migrations, environment, main } = settings;
  if (purgeLog === null) {
    const inherited = environment === null ? "" : " Environments do not inherit bindings.";
    const lines = environment === null ? PURGE_LOG_TOML : linesOfEnvironment(environment);
    const words = `there is no binding PURGE_LOG, so the edge could not be purged and would store nothing.${inherited}`;
    return [
      problem(
        where,
        `${words} ${file.endsWith(".toml") ? `Add:\n\n${lines}` : "Add it, as docs/getting-started.md shows."}`,
      ),
    ];
  }
  if (purgeLog.script_name !== undefined) return [];
  const { class_name: name } = purgeLog;
  const findings: Finding[] = [];
  if (!exported.includes(name)) {
    const words = `the binding PURGE_LOG names the class ${name}, which ${basename(main ?? "the worker")} does not export`;
    findings.push(problem(where, `${words}. Add there: export { PurgeLog } from "tidemark/worker";`));
  }
  const made = migrations.flatMap((each) => [
    ...(each.new_sqlite_classes ?? []),
    ...(each.renamed_classes ?? []).map(({ to }) => to),
  ]);
  if (migrations.some((each) => each.new_classes?.includes(name))) {
    const words = `new_classes makes ${name} without SQLite, which the purge log needs`;
    findings.push(problem(where, `${words}. Write new_sqlite_classes = ["${name}"] instead.`));
  } else if (!made.includes(name)) {
    const lines = `[[migrations]]\ntag = "v${migrations.length + 1}"\nnew_sqlite_classes = ["${name}"]`;
    findings.push(
      problem(where, `no migration creates the class ${name}, so the deployment would fail. Add:\n\n${lines}`),
    );
  }
  return findings;
}

function linesOfEnvironment(environment: string): string {
  return `[[env.${environment}.durable_objects.bindings]]\nname = "PURGE_LOG"\nclass_name = "PurgeLog"\n`;
}

/** `www.example.com/*` and `https://www.example.com/shop/*` are for the same host. */
function hostOfRoute(pattern: string): string {
  return pattern
    .replace(/^https?:\/\//, "")
    .replace(/\/.*$/, "")
    .toLowerCase();
}
