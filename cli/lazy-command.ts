import type { Command } from "commander";
import type { OptionalPeer } from "../package/optional-peers.ts";
import { lacksPeers } from "./lacks-peers.ts";
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
      if (!asksForHelp && lacksPeers(name, needs)) return;
      const command = (await load()).copyInheritedSettings(program);
      command.parent = program;
      await command.parseAsync(placeholder.args, { from: "user" });
    });
}
