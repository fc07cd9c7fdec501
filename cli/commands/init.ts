import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Command } from "commander";
import { DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { defaultConfig } from "../../package/default-config.ts";
import { OwnerError } from "../../package/owner-error.ts";
import { type PackageManager, packageManagerOf } from "../../package/package-manager.ts";
import { EXIT } from "../exit-code.ts";
import { valueNotFlag } from "../flags.ts";
import { type AppWorker, appWorkerOf } from "../init/app-worker.ts";
import type { EdgeNames, EdgeScript } from "../init/found-tools.ts";
import { type InitialisedProject, initProject } from "../init/init-project.ts";
import { initServer } from "../init/init-server.ts";
import { ProjectFileError } from "../init/project-file-error.ts";
import {
  AnswerError,
  checkAnswers,
  hostOf,
  originOf,
  passedOf,
  type SiteAnswers,
  serverOriginOf,
} from "../init/site-answers.ts";
import { wranglerConfigIn } from "../init/wrangler-config.ts";
import { parseManifest, type WrittenFile } from "../init/written-files.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError } from "../text/print-error.ts";
import type { ImportedProject } from "./tools/import-project.ts";

interface InitFlags {
  readonly origin?: string;
  readonly host?: string;
  readonly pass?: string;
  readonly import?: string;
  readonly force?: true;
  readonly server?: true;
}

const AFTER_HELP = `
It asks at most three questions, about what the flags do not say. If nobody can answer, as in CI, it asks nothing and
needs --origin and --host. In an app that is a worker itself, leave --origin out: the edge then asks that worker through a
service binding. With --import the rules come from an nginx.conf, and so do origin and host if the file names them.
With --server it writes a config, a systemd unit and a file with a new token, and nothing for Workers. It keeps files
that exist already, and only adds lines to package.json, .gitignore, .dev.vars and .env.

Exit codes: 0 done, 2 wrong usage, or a file that cannot be written.

  tidemark init
  tidemark init --origin https://origin.example.com --host www.example.com --pass /admin,/cart
  tidemark init --import /etc/nginx/nginx.conf
  tidemark init --server --origin http://127.0.0.1:8000 --host www.example.com`;

/** `tidemark init`: writes a project that deploys the edge. */
export function initCommand(): Command {
  return new Command("init")
    .description(DESCRIPTIONS.init)
    .option("--origin <url>", "where the site is now, like https://origin.example.com", valueNotFlag)
    .option("--host <name>", "the public host, like www.example.com", valueNotFlag)
    .option("--pass <paths>", "paths to never store, with everything below them, like /admin,/cart", valueNotFlag)
    .option("--import <file>", "take the rules of an nginx.conf, as tidemark import does", valueNotFlag)
    .option("--server", "write files for your own server (tidemark serve) instead of Workers")
    .option("--force", "replace tidemark.config.ts and other existing files of the edge, but none of the app")
    .addHelpText("after", AFTER_HELP)
    .action(async (flags: InitFlags) => {
      try {
        const existing = defaultConfig();
        if (existing !== null && existing !== DEFAULT_CONFIG) {
          throw new AnswerError(
            `${existing} has the site's rules already: rename it to ${DEFAULT_CONFIG}, which is kept`,
          );
        }
        const imported = flags.import === undefined ? null : await importedBy(flags, flags.import);
        const app = flags.server ? null : appWorkerOf(".", wranglerConfigIn("."));
        const answers = await answersFrom(imported === null ? flags : { ...answersOf(imported), ...flags }, app);
        const config = imported === null ? {} : { config: imported.config(answers.host), stored: imported.stored };
        const options = { folder: ".", answers, ...config, force: flags.force ?? false };
        const project = flags.server ? null : await initProject(options);
        for (const each of project?.written ?? (await initServer(options))) process.stdout.write(fileLine(each));
        if (imported !== null) process.stdout.write(`\n${imported.differences.join("\n")}\n`);
        process.stdout.write(
          `\n${project === null ? serverSteps(packageManagerOf(".")) : await nextSteps(".", project)}`,
        );
      } catch (error) {
        if (!(error instanceof AnswerError || error instanceof OwnerError)) throw error;
        printError(error instanceof ProjectFileError ? error.message : `${error.message}. Nothing was written.`);
        process.exitCode = EXIT.usage;
      }
    });
}

/** The rules of the file, with flags for what it does not say. */
async function importedBy({ origin, host, pass, force, server }: InitFlags, file: string): Promise<ImportedProject> {
  if (pass !== undefined)
    throw new AnswerError("leave out --pass with --import: the imported file says which paths pass");
  if (!force && existsSync(DEFAULT_CONFIG)) {
    throw new AnswerError(`${DEFAULT_CONFIG} exists already; --force replaces it and the edge's other files`);
  }
  // Loaded here, because most projects import nothing.
  const { importProject } = await import("./tools/import-project.ts");
  return importProject(file, {
    origin: origin === undefined ? null : originFor(server)(origin),
    host: host === undefined ? null : hostOf(host),
    isForServer: server ?? false,
  });
}

/** Reads an origin. Only a server of one's own reaches a socket. */
function originFor(server: true | undefined): (text: string) => string {
  return server ? serverOriginOf : originOf;
}

/** The answers from the file. */
function answersOf({ origin, host }: ImportedProject): InitFlags {
  return { origin, ...(host !== null && { host }), pass: "" };
}

/**
 * The answers from flags, checked before any question, then a person's answers to the remaining questions. `worker`: the
 * one in the project, which is the origin unless another one is named.
 */
async function answersFrom(flags: InitFlags, worker: AppWorker | null): Promise<SiteAnswers> {
  const readOrigin = originFor(flags.server);
  const origin = flags.origin === undefined ? undefined : readOrigin(flags.origin);
  const host = flags.host === undefined ? undefined : hostOf(flags.host);
  const passed = flags.pass === undefined ? undefined : passedOf(flags.pass);
  if (origin !== undefined && host !== undefined) return { origin, host, passed: passed ?? [] };
  const app = worker?.name ?? null;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    if (app !== null && host !== undefined) return { origin: null, host, passed: passed ?? [] };
    if (origin === undefined && app === null && worker?.main) throw new AnswerError(NAMELESS);
    throw new AnswerError(
      app === null
        ? "this is not a terminal, so name both: tidemark init --origin https://origin.example.com --host www.example.com"
        : "this is not a terminal, so name the public host: tidemark init --host www.example.com",
    );
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Lines are read as they come, so that several pasted at once answer one question each.
  const lines = terminal[Symbol.asyncIterator]();
  const ask = async <T>(question: string, parse: (text: string) => T): Promise<T> => {
    for (;;) {
      terminal.setPrompt(`${question} `);
      terminal.prompt();
      const { value, done } = await lines.next();
      if (done) throw new AnswerError("the questions were not answered");
      try {
        return parse(value);
      } catch (error) {
        if (!(error instanceof AnswerError)) throw error;
        process.stdout.write(`  ${error.message}.\n`);
      }
    }
  };
  const fitting = (given: Pick<SiteAnswers, "origin" | "host">) => {
    checkAnswers(given); // here, so that the question comes again
    return given;
  };
  const readHost = (text: string) => fitting({ origin: origin ?? null, host: hostOf(text) }).host;
  const askOrigin = (publicHost: string) =>
    ask(
      `Where is the site now${app === null ? ", like https://origin.example.com" : ` (Enter for the worker ${app})`}?`,
      (text) =>
        app !== null && text.trim() === "" ? null : fitting({ origin: readOrigin(text), host: publicHost }).origin,
    );
  try {
    const publicHost = host ?? (await ask("The public host, like www.example.com?", readHost));
    return {
      host: publicHost,
      origin: origin ?? (await askOrigin(publicHost)),
      passed: passed ?? (await ask("Paths that must never be stored, like /admin,/cart (Enter for none)?", passedOf)),
    };
  } finally {
    terminal.close();
  }
}

const NAMELESS =
  "the wrangler config here has no name at its top, so the edge cannot have its worker as the origin: add one there, like " +
  'name = "shop", or name another site with --origin https://origin.example.com';

function serverSteps({ install, run }: PackageManager): string {
  const steps = [
    [install, ""],
    [`set -a; . ./tidemark.env; set +a; ${run} check`, "the settings"],
    [`TIDEMARK_HOSTS='*' ${run} serve`, "the edge at http://localhost:8080, for a look"],
    ["sudo cp tidemark.service /etc/systemd/system/ && sudo systemctl enable --now tidemark", ""],
  ];
  const lines = steps.map(([command, words], index) =>
    words === "" ? `  ${index + 1}. ${command}\n` : `  ${index + 1}. ${command!.padEnd(52)}${words}\n`,
  );
  return `Next:\n${lines.join("")}`;
}

/** `kept      worker.ts` */
function fileLine({ file, outcome, note }: WrittenFile): string {
  const words = note === undefined ? "" : `: ${note.replaceAll("\n", "\n    ").trimEnd()}`;
  return `${outcome.padEnd("completed".length)}  ${file}${words}\n`;
}

/** The steps to take after `tidemark init` in this folder. The owner's own scripts are not mistaken for ours. */
async function nextSteps(folder: string, { names, commands, behind }: InitialisedProject): Promise<string> {
  const manifest = parseManifest(await readFile(join(folder, "package.json"), "utf8"));
  const manager = packageManagerOf(folder);
  const run = (script: EdgeScript): string => {
    const keys = script === "test" ? ["test", "test:edge"] : [`${script}${names.suffix}`];
    const key = keys.find((each) => manifest.scripts?.[each] === commands[script]);
    if (key === undefined) return `${manager.exec} ${commands[script]}`;
    return key === "test" ? manager.test : `${manager.run} ${key}`;
  };
  const steps = [
    [`${manager.install} && ${run("test")}`, "the edge on a simulated CDN"],
    [run("dev"), `the edge at http://localhost:8787, in front of your ${behind === null ? "site" : "app"}`],
    [
      run("deploy"),
      `${behind === null ? "" : "after the app itself; "}then: ${manager.exec} wrangler secret put TIDEMARK_TOKEN${names.configFlag}`,
    ],
  ] as const;
  const width = Math.max(30, ...steps.map(([command]) => command.length)) + 4;
  const lines = steps.map(([command, words], index) => `  ${index + 1}. ${command.padEnd(width)}${words}\n`);
  return `Next:\n${lines.join("")}${behind === null || behind.isBuilt ? "" : buildFirst(behind, names)}`;
}

/** A build may write a config of its own, whose name is not known before. */
function buildFirst({ config, main }: AppWorker, { suffix }: EdgeNames): string {
  return `Step 2 needs the app's build: main in ${config}, ${main}, is no file. Build the app first. If that writes
.wrangler/deploy/config.json, let the script dev${suffix} name the config that it names, like dist/server/wrangler.json,
in place of ${config}.
`;
}
