import { Command } from "commander";
import { readSocket } from "../../../package/unix-socket.ts";
import { configText } from "../../../tools/import/config-text.ts";
import { importFile, writeWhole } from "../../../tools/import/import-file.ts";
import { differenceLines, importSummary } from "../../../tools/import/import-report.ts";
import { ImportError, siteOf } from "../../../tools/import/imported-site.ts";
import { EXIT } from "../../exit-code.ts";
import { valueNotFlag } from "../../flags.ts";
import { AnswerError, hostOf, serverOriginOf } from "../../init/site-answers.ts";
import { DESCRIPTIONS } from "../../text/descriptions.ts";
import { printError } from "../../text/print-error.ts";

interface ImportFlags {
  readonly origin?: string;
  readonly host?: string;
  readonly server?: string;
  readonly root?: string;
  readonly out: string;
  readonly force?: true;
  readonly json?: true;
  readonly strict?: true;
}

const AFTER_HELP = `
It reads nginx's proxy_cache (or fastcgi_cache and the like) with all included files, and writes a site config that names
the lines each setting came from. A location stores pages only if the import understands every line that applies to it;
otherwise it passes requests on. Then it lists what it left out and why, what differs, and what is safer now.
It sends nothing anywhere, and writes nothing if it cannot read something in the file.

Exit codes: 0 done, 1 the file cannot be imported, or (with --strict) a rule that kept visitors out is not carried over,
2 wrong usage.

  tidemark import /etc/nginx/nginx.conf
  tidemark import backup/etc/nginx/nginx.conf --root backup --server www.example.com --out -`;

/** `tidemark import`: the rules of another cache as a site config. */
export function importCommand(): Command {
  return new Command("import")
    .description(DESCRIPTIONS.import)
    .argument("<file>", "nginx.conf, a file from sites-enabled, or the output of nginx -T; - for standard input")
    .option("--origin <url>", "where the site is, if the file names another place; or unix:/run/app.sock", valueNotFlag)
    .option("--host <name>", "the public host, if the file does not name it", valueNotFlag)
    .option(
      "--server <name>",
      "the server_name to import, or its place like nginx.conf:12, if several servers have a cache",
      valueNotFlag,
    )
    .option("--root <folder>", "the folder to use as / for included files", valueNotFlag)
    .option("--out <file>", "the config to write; - for standard output", valueNotFlag, "tidemark.config.ts")
    .option("--force", "replace the file if it exists")
    .option("--json", "print the site and the differences as one JSON object, and write nothing")
    .option("--strict", "exit with 1, and write nothing, if a rule that kept visitors out is not carried over")
    .addHelpText("after", AFTER_HELP)
    .action(async (file: string, { origin, host, server, root, out, force, json, strict }: ImportFlags) => {
      try {
        const imported = await importFile(file, {
          origin: origin === undefined ? null : serverOriginOf(origin),
          host: host === undefined ? null : hostOf(host),
          server: server ?? null,
          root: root ?? null,
        });
        const isOpen = imported.differences.some(({ kind }) => kind === "access");
        if (strict && isOpen) process.exitCode = EXIT.refused;
        if (json) {
          const { files, differences, locations } = imported;
          const printed = { ok: !isOpen, files, site: siteOf(imported), locations, differences };
          process.stdout.write(`${JSON.stringify(printed, patternAsText)}\n`);
          return;
        }
        const list = `${differenceLines(imported.differences, process.stdout.columns ?? 100).join("\n")}\n`;
        if (strict && isOpen) {
          process.stdout.write(list);
          printError("a rule that kept visitors out is not carried over. Nothing was written.");
        } else if (out === "-") process.stdout.write(configText(imported));
        else {
          await writeWhole(out, configText(imported), force ?? false);
          process.stdout.write(`${list}\nwritten    ${out}: ${importSummary(imported)}\n`);
          const socket = readSocket(imported.origin.value);
          if (socket !== null) process.stdout.write(`then       npx tidemark serve --origin ${socket}\n`);
        }
      } catch (error) {
        if (!(error instanceof ImportError || error instanceof AnswerError)) throw error;
        printError(`${error.message}. Nothing was written.`);
        process.exitCode = error instanceof AnswerError ? EXIT.usage : EXIT.refused;
      }
    });
}

/** JSON has no patterns, but a site also accepts them as text. */
function patternAsText(_name: string, value: unknown): unknown {
  return value instanceof RegExp ? String(value) : value;
}
