import { Command, CommanderError } from "commander";
import { EXIT } from "./exit-code.ts";
import { addLateCommand } from "./lazy-command.ts";
import { ownPackage } from "../cdn/own-package.ts";
import { purgeCommand } from "./commands/purge.ts";
import { purgesCommand } from "./commands/purges.ts";

/** Runs the command line; sets the process's exit code. */
export async function runProgram(): Promise<void> {
  const program = new Command("tidemark")
    .description("An edge cache that you own, on your laptop and on the edge.")
    .version(ownPackage.version)
    .showHelpAfterError("(--help tells what there is)")
    .exitOverride();

  addLateCommand(program, {
    name: "dev",
    description: "Start the edge on this machine, in front of your site.",
    needs: ["miniflare", "esbuild"],
    load: async () => (await import("./commands/dev.ts")).devCommand(null),
  });
  program.addCommand(purgeCommand().copyInheritedSettings(program));
  program.addCommand(purgesCommand().copyInheritedSettings(program));

  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander has said it already; its own code for wrong usage is 1, which here means refused.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}
