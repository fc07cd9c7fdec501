import { Command, CommanderError } from "commander";
import { ownPackage } from "../cdn/own-package.ts";
import { EXIT } from "./exit-code.ts";
import { addLazyCommand } from "./lazy-command.ts";

/** All commands. The code of each is loaded when it is called. */
export function createProgram(): Command {
  const program = new Command("tidemark")
    .description("An edge cache that you own, on your laptop and on the edge.")
    .version(ownPackage.version)
    .showHelpAfterError("(--help lists the options)")
    .exitOverride();

  addLazyCommand(program, {
    name: "dev",
    needs: ["miniflare", "esbuild"],
    load: async () => (await import("./commands/dev.ts")).devCommand(null),
  });
  addLazyCommand(program, {
    name: "serve",
    needs: [],
    load: async () => (await import("./commands/serve.ts")).serveCommand(),
  });
  addLazyCommand(program, {
    name: "backup",
    needs: [],
    load: async () => (await import("./commands/backup.ts")).backupCommand(),
  });
  addLazyCommand(program, {
    name: "restore",
    needs: [],
    load: async () => (await import("./commands/backup.ts")).restoreCommand(),
  });
  addLazyCommand(program, {
    name: "init",
    needs: [],
    load: async () => (await import("./commands/init.ts")).initCommand(),
  });
  addLazyCommand(program, {
    name: "import",
    needs: [],
    load: async () => (await import("./commands/import.ts")).importCommand(),
  });
  addLazyCommand(program, {
    name: "check",
    needs: ["miniflare", "esbuild", "wrangler"],
    load: async () => (await import("./commands/check.ts")).checkCommand(),
  });
  addLazyCommand(program, {
    name: "report",
    needs: [],
    load: async () => (await import("./commands/report.ts")).reportCommand(),
  });
  addLazyCommand(program, {
    name: "replay",
    needs: [],
    load: async () => (await import("./commands/replay.ts")).replayCommand(),
  });
  addLazyCommand(program, {
    name: "audit",
    needs: [],
    load: async () => (await import("./commands/audit.ts")).auditCommand(),
  });
  addLazyCommand(program, {
    name: "crawl",
    needs: [],
    load: async () => (await import("./commands/crawl.ts")).crawlCommand(),
  });
  addLazyCommand(program, {
    name: "warm",
    needs: [],
    load: async () => (await import("./commands/warm.ts")).warmCommand(),
  });
  addLazyCommand(program, {
    name: "purge",
    needs: [],
    load: async () => (await import("./commands/purge.ts")).purgeCommand(),
  });
  addLazyCommand(program, {
    name: "purges",
    needs: [],
    load: async () => (await import("./commands/purges.ts")).purgesCommand(),
  });
  addLazyCommand(program, {
    name: "explain",
    needs: [],
    load: async () => (await import("./commands/explain.ts")).explainCommand(),
  });
  addLazyCommand(program, {
    name: "stats",
    needs: [],
    load: async () => (await import("./commands/stats.ts")).statsCommand(),
  });
  addLazyCommand(program, {
    name: "top",
    needs: [],
    load: async () => (await import("./commands/top.ts")).topCommand(),
  });
  return program;
}

/** Runs the command line and sets the exit code of the process. */
export async function runProgram(): Promise<void> {
  for (const output of [process.stdout, process.stderr]) output.on("error", unlessClosed);
  try {
    await createProgram().parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander has printed the error. Its own exit code for wrong usage is 1, which here means refused.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

/** A reader such as `head` may have read enough. What the command has begun, it finishes. */
function unlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
