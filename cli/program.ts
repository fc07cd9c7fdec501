import { Command, CommanderError } from "commander";
import { ownPackage } from "../package/own-package.ts";
import { EXIT } from "./exit-code.ts";
import { addLazyCommand, type LazyCommand } from "./lazy-command.ts";

const COMMANDS: readonly LazyCommand[] = [
  { name: "dev", load: async () => (await import("./commands/dev.ts")).devCommand(null) },
  { name: "serve", load: async () => (await import("./commands/serve.ts")).serveCommand() },
  { name: "backup", load: async () => (await import("./commands/backup.ts")).backupCommand() },
  { name: "restore", load: async () => (await import("./commands/backup.ts")).restoreCommand() },
  { name: "init", load: async () => (await import("./commands/init.ts")).initCommand() },
  { name: "import", load: async () => (await import("./commands/tools/import.ts")).importCommand() },
  { name: "check", load: async () => (await import("./commands/check.ts")).checkCommand() },
  { name: "report", load: async () => (await import("./commands/tools/report.ts")).reportCommand() },
  { name: "replay", load: async () => (await import("./commands/tools/replay.ts")).replayCommand() },
  { name: "audit", load: async () => (await import("./commands/tools/audit.ts")).auditCommand() },
  { name: "crawl", load: async () => (await import("./commands/tools/crawl.ts")).crawlCommand() },
  { name: "warm", load: async () => (await import("./commands/tools/warm.ts")).warmCommand() },
  { name: "purge", load: async () => (await import("./commands/purge.ts")).purgeCommand() },
  { name: "purges", load: async () => (await import("./commands/purges.ts")).purgesCommand() },
  { name: "explain", load: async () => (await import("./commands/explain.ts")).explainCommand() },
  { name: "stats", load: async () => (await import("./commands/stats.ts")).statsCommand() },
  { name: "top", load: async () => (await import("./commands/top.ts")).topCommand() },
];

/** All commands. The code of each is loaded when it is called. */
export function createProgram(): Command {
  const program = new Command("tidemark")
    .description("An edge cache that you own, on your laptop and on the edge.")
    .version(ownPackage.version)
    .showHelpAfterError("(--help lists the options)")
    .addHelpText("after", "\nEach command exits with 5 if its output cannot be written; its work is done all the same.")
    // Errors repeat the values of flags. An address may have a password, which a log must not keep.
    .configureOutput({ outputError: (text, write) => write(text.replaceAll(/\/\/\S*@/g, "//…@")) })
    .exitOverride();

  for (const command of COMMANDS) addLazyCommand(program, command);
  return program;
}

/** Runs the command line with these arguments, and sets the exit code of the process. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander has printed the error. Its own exit code for wrong usage is 1, which here means refused.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}
