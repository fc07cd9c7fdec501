import type { Command } from "commander";
import { DESCRIPTIONS } from "./text/descriptions.ts";

export interface LazyCommand {
  readonly name: keyof typeof DESCRIPTIONS;
  /** Imports its code. */
  load(): Promise<Command>;
}

/** Adds a command whose code is loaded when it is called, so that the others need not wait for it. */
export function addLazyCommand(program: Command, { name, load }: LazyCommand): void {
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
      const command = (await load()).copyInheritedSettings(program);
      command.parent = program;
      await command.parseAsync(placeholder.args, { from: "user" });
    });
}
