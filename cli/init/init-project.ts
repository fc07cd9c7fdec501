import { findPackageJSON } from "node:module";
import { basename, join, resolve } from "node:path";
import { ownPackage } from "../../package/own-package.ts";
import { packageManagerOf } from "../../package/package-manager.ts";
import { PURGE_LOG_JSON, PURGE_LOG_TOML } from "../../wire/purge-log-binding.ts";
import { type AppWorker, appWorkerOf, mainOf } from "./app-worker.ts";
import { type EdgeNames, endingOfImports, namesFor, runnerFor, scriptsFor, tsconfigChangesApp } from "./found-tools.ts";
import { denyScriptsIn, scriptsFileOf } from "./install-scripts.ts";
import {
  completedManifest,
  type EdgeTools,
  type InstalledWrangler,
  type Manifest,
  manifestText,
  toolsBeside,
  validName,
} from "./manifest.ts";
import {
  configFile,
  nodeTestFile,
  originText,
  testFile,
  tsconfigFile,
  workerFile,
  wranglerFile,
} from "./project-files.ts";
import { keepSecret } from "./secret-file.ts";
import { AnswerError, checkAnswers, type SiteAnswers } from "./site-answers.ts";
import { bindsPurgeLog, type WranglerConfig, wranglerConfigIn } from "./wrangler-config.ts";
import { completeIgnored, type Put, parseManifest, putIn, read, type WrittenFile, write } from "./written-files.ts";

export interface InitOptions {
  readonly folder: string;
  readonly answers: SiteAnswers;
  /** The text of tidemark.config.ts, if another tool's rules are imported. Default: made from the answers. */
  readonly config?: string;
  /** The path of a page that this text stores; `null` if none is known. Default: one of which it says nothing. */
  readonly stored?: string | null;
  /** Whether existing files of the edge are replaced, except those to which lines are only added. */
  readonly force: boolean;
}

/** What was written, and what the next steps name. */
export interface InitialisedProject {
  readonly written: readonly WrittenFile[];
  readonly names: EdgeNames;
  readonly commands: ReturnType<typeof scriptsFor>;
  /** The worker in the same folder, if the edge is in front of it. */
  readonly behind: AppWorker | null;
}

/** The entries that version control ignores, beside the file with the secret. */
const IGNORED = ["node_modules/", ".wrangler/", ".tidemark/"];

/** Writes the project's files into a folder. Throws `AnswerError` before it writes any. */
export async function initProject({
  folder,
  answers,
  config = configFile(answers),
  stored = "/hello",
  force,
}: InitOptions): Promise<InitialisedProject> {
  checkAnswers(answers);
  const manifestText = await read(join(folder, "package.json"));
  const existing = manifestText === null ? null : parseManifest(manifestText);
  const name = validName(existing?.name ?? basename(resolve(folder)), answers.host);
  const wrangler = wranglerConfigIn(folder);
  const app = appWorkerOf(folder, wrangler);
  const names = namesFor(app, wrangler);
  const behind = answers.origin === null ? app : null;
  if (answers.origin === null && !behind?.name) {
    throw new AnswerError(
      "no wrangler config here names a worker that could be the origin: name an origin with --origin",
    );
  }
  const runner = runnerFor(folder, existing);
  const manager = packageManagerOf(folder);
  const scriptsFile = await scriptsFileOf(folder, manager);
  const secret = await keepSecret(folder, names.suffix !== "");
  const ignored = await completeIgnored(folder, [...IGNORED, secret.file]); // at once: another file may not be writable
  const commands = scriptsFor(names, runner, behind?.config ?? null, secret.file);
  // Not the script, which may be the owner's own. `wrangler` runs it in a shell, so a bare name would not be found.
  const build = `${manager.execInstalled} ${commands.check}`;
  const ownTsconfig = await read(join(folder, "tsconfig.json"));
  const hasTsconfig = ownTsconfig !== null || !tsconfigChangesApp(folder, existing);
  const put = putIn(folder, force);
  const tried = { wrangler: names.wrangler, app: behind?.isBuilt ? behind : null, stored };

  const written = [
    await completeManifest(folder, manifestText, existing, name, {
      suffix: names.suffix,
      commands,
      runner,
      hasTsconfig,
      decidesOnScripts: scriptsFile === "package.json",
    }),
    ...(scriptsFile === null || scriptsFile === "package.json" ? [] : [await denyScriptsIn(folder, scriptsFile)]),
    await put("tidemark.config.ts", config, notIn(await read(join(folder, "tidemark.config.ts")), answers)),
    ...(names.isOwnEntry ? [] : [await put(names.worker, workerFile(endingOfImports(ownTsconfig)))]),
    await putWranglerFile(wrangler, names, wranglerFile(answers, name, names, behind?.name ?? null, build), build, put),
    secret,
    ignored,
    hasTsconfig
      ? await putIn(folder, false)(
          "tsconfig.json",
          tsconfigFile(names.worker),
          'its types need "@cloudflare/workers-types" and "node"',
        )
      : { file: "tsconfig.json", outcome: "left out" as const, note: "the app would be built with it" },
    runner === "vitest"
      ? await put("test/edge.test.ts", testFile(answers, tried))
      : await put("edge-test.mjs", nodeTestFile(answers, tried)),
  ];
  return { written, names, commands, behind };
}

/** The answers that a kept config does not have. */
function notIn(config: string | null, { origin, host }: SiteAnswers): string | undefined {
  const missing = [origin ?? originText(origin), host].filter((each) => !isNamedIn(config ?? "", each));
  if (missing.length === 0) return undefined;
  return `it does not name ${missing.join(" and ")}; edit it, or replace it with --force`;
}

/** Whether a config has a name by itself, and not as a part of a longer one. */
function isNamedIn(config: string, name: string): boolean {
  return new RegExp(`(?<![\\w.-])${name.replaceAll(/\W/g, "\\$&")}(?![\\w.:-])`).test(config);
}

/** Beside an app that is a worker itself, the edge is a separate worker: `names` says where it is written. */
async function putWranglerFile(
  found: WranglerConfig | null,
  { wrangler, suffix }: EdgeNames,
  text: string,
  build: string,
  put: Put,
): Promise<WrittenFile> {
  if (suffix !== "") {
    const written = await put(wrangler, text);
    const note = "the edge in front of this folder's worker. The edge's route replaces that worker's own";
    return { ...written, ...(written.outcome === "written" && { note }) };
  }
  const missing = found === null ? undefined : missingIn(found, build);
  // wrangler prefers one form of config to another, so the project must have only one.
  if (found !== null && found.file !== "wrangler.toml") {
    return { file: found.file, outcome: "kept", ...(missing !== undefined && { note: missing }) };
  }
  return put(wrangler, text, missing);
}

/**
 * What a config without an app lacks to be the edge's, in its own form; `undefined` for nothing. `build`: the command that
 * lets `tidemark check` stop a deployment.
 */
function missingIn(found: WranglerConfig, build: string): string | undefined {
  const hasLog = bindsPurgeLog(found);
  if (hasLog && mainOf(found) !== undefined) return undefined;
  if (found.file.endsWith(".toml")) {
    const main = 'main = "worker.ts"\n';
    return hasLog
      ? `it needs this line above the first table:\n\n${main}`
      : `it needs these lines, main above the first table:\n\n${main}\n${PURGE_LOG_TOML}`;
  }
  const main = '"main": "worker.ts"';
  return hasLog
    ? `it needs this key:\n\n${main}\n`
    : `it needs these keys:\n\n${main},\n"build": { "command": "${build}" },\n${PURGE_LOG_JSON}\n`;
}

async function completeManifest(
  folder: string,
  text: string | null,
  existing: Manifest | null,
  name: string,
  found: Omit<EdgeTools, "versions">,
): Promise<WrittenFile> {
  const { version: own, devDependencies } = ownPackage;
  const tools = toolsBeside(await wranglerFrom(folder), devDependencies);
  const { manifest, changed, kept } = completedManifest(existing, name, { versions: { own, tools }, ...found });
  const left = kept.length > 0 ? `${kept.join(", ")} unchanged` : "";
  if (existing !== null && changed.length === 0) {
    return { file: "package.json", outcome: "kept", ...(left !== "" && { note: left }) };
  }
  await write(join(folder, "package.json"), manifestText(manifest, text));
  if (existing === null) return { file: "package.json", outcome: "written" };
  const note = [`added ${changed.join(", ")}`, left].filter((part) => part !== "").join("; ");
  return { file: "package.json", outcome: "completed", note };
}

/** The manifest of the wrangler that modules of the folder would import; `null` for none. */
async function wranglerFrom(folder: string): Promise<InstalledWrangler | null> {
  try {
    const file = findPackageJSON("wrangler", join(resolve(folder), "package.json"))!;
    return JSON.parse((await read(file))!) as InstalledWrangler;
  } catch {
    return null;
  }
}
