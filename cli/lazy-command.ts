import type { Command } from "commander";
import { missingPeersMessage, type OptionalPeer } from "../package/optional-peers.ts";
import { EXIT } from "./exit-code.ts";
import { DESCRIPTIONS } from "./text/descriptions.ts";

export interface LazyCommand {
  readonly name: keyof typeof DESCRIPTIONS;
  /**
   * The optional packages that it needs to run. Its code imports them late, so that `--help` works without them. Default:
   * none.
   */
  readonly needs?: readonly OptionalPeer[];
  /** Imports its code. */
  load(): Promise<Command>;
}

/** Adds a command whose code is loaded when it is called, so that the others work without the packages that it needs. */
export function addLazyCommand(program: Command, { name, needs = [], load }: LazyCommand): void {
  // The command itself reads its flags, --help too.
  program
    .command(name)
    .description(DESCRIPTIONS[name])
    .usage("[options]")
    .helpOption(false)
    .addHelpText("after", `\nFor its options: tidemark ${name} --help`)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_flags: unknown, placeholder: Command) => {
      const asksForHelp = placeholder.args.some((arg) => arg === "--help" || arg === "-h");
      const missing = asksForHelp ? null : missingPeersMessage(`tidemark ${name}`, needs);
      if (missing !== null) {
        // As wrangler's build command, it keeps no deployment back for what it lacks itself.
        const isBuilding = process.env.WRANGLER_COMMAND !== undefined;
        process.stderr.write(isBuilding ? `${missing}\nUntil then wrangler goes on without it.\n` : missing);
        process.exitCode = isBuilding ? EXIT.done : EXIT.usage;
        return;
      }
      const command = (await load()).copyInheritedSettings(program);
      command.parent = program;
      await command.parseAsync(placeholder.args, { from: "user" });
    });
}
