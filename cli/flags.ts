import { type Command, InvalidArgumentError, Option } from "commander";

/** The token comes from the environment alone: a command that is given one as a flag refuses, and does not repeat it. */
export function refuseTokenFlag(command: Command): Command {
  return command.addOption(new Option("--token [token]").hideHelp()).on("option:token", refuse);
}

function refuse(this: Command): never {
  // Never with the value: it is a secret.
  this.error(
    "error: --token does not exist, because everybody on a machine can see the arguments of its processes, and shells " +
      "keep them. Set the variable TIDEMARK_TOKEN. If that was a real token, replace it.",
  );
}

/** commander takes whatever follows for the value, so that `--tag --wait` would purge the tag `--wait`, and not wait. */
export function ownValue(value: string): string {
  if (value.startsWith("--")) throw new InvalidArgumentError("That is a flag; the value before it is missing.");
  return value;
}
