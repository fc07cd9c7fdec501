import type { Command } from "commander";
import { EXIT } from "./exit-code.ts";
import { lackOf, type OptionalPeer } from "../cdn/optional-peers.ts";

export interface LateCommand {
  readonly name: string;
  readonly description: string;
  /** What its code imports, and what not everybody has installed. */
  readonly needs: readonly OptionalPeer[];
  /** Imports it. */
  load(): Promise<Command>;
}

/** Adds a command whose code is loaded when it is called, so that the others work without what it needs. */
export function addLateCommand(program: Command, { name, description, needs, load }: LateCommand): void {
  // Its flags, --help too, are for the real one to read.
  program
    .command(name)
    .description(description)
    .usage("[options]")
    .helpOption(false)
    .addHelpText("after", `\nWhat there is: tidemark ${name} --help`)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_flags: unknown, stub: Command) => {
      const lack = lackOf(`tidemark ${name}`, needs);
      if (lack !== null) {
        process.stderr.write(lack);
        process.exitCode = EXIT.usage;
        return;
      }
      const command = (await load()).copyInheritedSettings(program);
      command.parent = program;
      await command.parseAsync(stub.args, { from: "user" });
    });
}
