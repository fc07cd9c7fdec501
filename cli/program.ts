import { Command, CommanderError } from "commander";
import { ownPackage } from "../cdn/own-package.ts";
import { explainCommand } from "./commands/explain.ts";
import { purgeCommand } from "./commands/purge.ts";
import { purgesCommand } from "./commands/purges.ts";
import { statsCommand } from "./commands/stats.ts";
import { topCommand } from "./commands/top.ts";
import { EXIT } from "./exit-code.ts";
import { addLazyCommand } from "./lazy-command.ts";

/** All commands. The code of most is loaded when they are called. */
export function createProgram(): Command {
  const program = new Command("tidemark")
    .description("An edge cache that you own, on your laptop and on the edge.")
    .version(ownPackage.version)
    .showHelpAfterError("(--help lists the options)")
    .exitOverride();

  addLazyCommand(program, {
    name: "dev",
    description: "Start the edge on this machine, in front of your site.",
    needs: ["miniflare", "esbuild"],
    load: async () => (await import("./commands/dev.ts")).devCommand(null),
  });
  addLazyCommand(program, {
    name: "serve",
    description: "Serve your site from this machine: the edge as a server of its own.",
    needs: [],
    load: async () => (await import("./commands/serve.ts")).serveCommand(),
  });
  addLazyCommand(program, {
    name: "backup",
    description: "Copy the purge log of your own server, also while it runs.",
    needs: [],
    load: async () => (await import("./commands/backup.ts")).backupCommand(),
  });
  addLazyCommand(program, {
    name: "restore",
    description: "Put a copy in the place of your own server's purge log.",
    needs: [],
    load: async () => (await import("./commands/backup.ts")).restoreCommand(),
  });
  addLazyCommand(program, {
    name: "init",
    description: "Write a project that deploys the edge for your site.",
    needs: [],
    load: async () => (await import("./commands/init.ts")).initCommand(),
  });
  addLazyCommand(program, {
    name: "import",
    description: "Write a site config from an nginx.conf or a default.vcl.",
    needs: [],
    load: async () => (await import("./commands/import.ts")).importCommand(),
  });
  addLazyCommand(program, {
    name: "check",
    description: "Check rules, hosts, bindings and size of the worker before it is deployed.",
    needs: ["miniflare", "esbuild", "wrangler"],
    load: async () => (await import("./commands/check.ts")).checkCommand(),
  });
  addLazyCommand(program, {
    name: "report",
    description: "Tell from access logs what a cache would do for a site.",
    needs: [],
    load: async () => (await import("./commands/report.ts")).reportCommand(),
  });
  addLazyCommand(program, {
    name: "replay",
    description: "Send the requests of access logs through the edge, under one or several configs.",
    needs: [],
    load: async () => (await import("./commands/replay.ts")).replayCommand(),
  });
  addLazyCommand(program, {
    name: "audit",
    description: "Find out whether a cache gives visitors what was made for others.",
    needs: [],
    load: async () => (await import("./commands/audit.ts")).auditCommand(),
  });
  addLazyCommand(program, {
    name: "crawl",
    description: "Ask for a site's pages through its edge, and show hit ratio and latency.",
    needs: [],
    load: async () => (await import("./commands/crawl.ts")).crawlCommand(),
  });
  addLazyCommand(program, {
    name: "warm",
    description: "Ask for a site's pages through its edge, so that it has them stored.",
    needs: [],
    load: async () => (await import("./commands/warm.ts")).warmCommand(),
  });
  program.addCommand(purgeCommand().copyInheritedSettings(program));
  program.addCommand(purgesCommand().copyInheritedSettings(program));
  program.addCommand(explainCommand().copyInheritedSettings(program));
  program.addCommand(statsCommand().copyInheritedSettings(program));
  program.addCommand(topCommand().copyInheritedSettings(program));
  return program;
}

/** Runs the command line and sets the exit code of the process. */
export async function runProgram(): Promise<void> {
  try {
    await createProgram().parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander has printed the error. Its own exit code for wrong usage is 1, which here means refused.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}
