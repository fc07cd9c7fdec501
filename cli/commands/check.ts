import { existsSync } from "node:fs";
import { Command } from "commander";
import { ConfigFileError, DEFAULT_CONFIG } from "../../package/config-file-error.ts";
import { defaultConfig } from "../../package/default-config.ts";
import { packageManagerOf } from "../../package/package-manager.ts";
import { EDGE_WRANGLER_FILE, WRANGLER_FILES } from "../../package/wrangler-files.ts";
import { checkText } from "../check/check-report.ts";
import { WranglerConfigError } from "../check/wrangler-settings.ts";
import { EXIT } from "../exit-code.ts";
import { pathName, valueNotFlag } from "../flags.ts";
import { lacksPeers } from "../lacks-peers.ts";
import { DESCRIPTIONS } from "../text/descriptions.ts";
import { printError } from "../text/print-error.ts";

interface CheckFlags {
  readonly config?: string;
  readonly env?: string;
  readonly json?: true;
}

/** In the order in which they are looked for. */
const OF_WRANGLER = [EDGE_WRANGLER_FILE, ...WRANGLER_FILES];

const afterHelp = () => `
It reads the wrangler config, runs the worker's modules in the Workers runtime, and looks at the site's rules, public
hosts, the binding of the purge log, routes that never match, and the size of the bundle. Nothing is sent anywhere.

As wrangler's build command it stops a deployment that has a mistake:

  [build]
  command = "${packageManagerOf(".").execInstalled} tidemark check"

It warns of what it cannot check on this machine; a warning does not stop a deployment.

In a folder without a wrangler config, or if --config names a site's rules, it does what tidemark serve --check does:
it checks the rules and settings of your own server.

Exit codes: 0 can be deployed, 1 has problems, 2 wrong usage, or no config that can be read.`;

/** `tidemark check`: whether the project can be deployed as it is. */
export function checkCommand(): Command {
  return new Command("check")
    .description(DESCRIPTIONS.check)
    .option("--config <file>", `the config (default: ${[...OF_WRANGLER, DEFAULT_CONFIG].join(", ")})`, pathName)
    .option("--env <name>", "check only this environment (default: the top level and all environments)", valueNotFlag)
    .option("--json", "print the report as one JSON object")
    .addHelpText("after", afterHelp)
    .action(async ({ config, env, json }: CheckFlags, command: Command) => {
      const file = config ?? OF_WRANGLER.find((each) => existsSync(each)) ?? rulesAlone() ?? "wrangler.toml";
      if (/\.[cm]?[jt]s$/.test(file)) {
        if (env !== undefined || json)
          command.error(`error: --env and --json are for a wrangler config, not for ${file}`);
        const { serveCommand } = await import("./serve.ts");
        await serveCommand().parseAsync(["--check", "--config", file], { from: "user" });
        return;
      }
      if (lacksPeers("check", ["miniflare", "esbuild", "wrangler"])) return;
      // Loaded here, because it needs packages that the help text does not.
      const { checkProject } = await import("../check/check-project.ts");
      try {
        const report = await checkProject({ config: file, environment: env ?? null });
        const isSound = report.findings.every(({ level }) => level !== "problem");
        process.stdout.write(json ? `${JSON.stringify({ ok: isSound, ...report })}\n` : checkText(report));
        process.exitCode = isSound ? EXIT.done : EXIT.refused;
      } catch (error) {
        if (!(error instanceof WranglerConfigError)) throw error;
        printError(error.message);
        process.exitCode = EXIT.usage;
      }
    });
}

/** The file with a site's rules in a folder without a wrangler config; `null` for none. */
function rulesAlone(): string | null {
  try {
    return defaultConfig();
  } catch (error) {
    if (!(error instanceof ConfigFileError)) throw error;
    printError(error.message);
    process.exit(EXIT.usage);
  }
}
