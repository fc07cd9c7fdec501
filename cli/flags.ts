import { type Command, InvalidArgumentError, Option } from "commander";
import { whole } from "../wire/text/numbers.ts";

/**
 * Makes a command refuse the flag --token without repeating its value, because the token comes only from the
 * environment.
 */
export function refuseTokenFlag(command: Command): Command {
  return command.addOption(new Option("--token [token]").hideHelp()).on("option:token", refuseToken);
}

function refuseToken(this: Command): never {
  // The message must not contain the value, which is a secret.
  this.error(
    "error: there is no --token, because everybody on a machine can see the arguments of its processes, and shells " +
      "keep them. Set the variable TIDEMARK_TOKEN. If that was a real token, replace it.",
  );
}

/** Makes a command refuse a flag that another command has, and say what to do here. */
export function refuseFlag(command: Command, name: string, advice: string): Command {
  return command
    .addOption(new Option(`--${name} [value]`).hideHelp())
    .on(`option:${name}`, () => command.error(`error: there is no --${name} here: ${advice}`));
}

/**
 * Refuses a flag in the place of a value. commander treats the next argument as the value, so `--tag --wait` would
 * purge the tag `--wait` and not wait.
 */
export function valueNotFlag(value: string): string {
  if (value.startsWith("--")) throw new InvalidArgumentError("That is a flag; the value before it is missing.");
  return value;
}

/** Collects the values of a flag that may be repeated. */
export function listedValues(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), valueNotFlag(value)];
}

/** Reads the path of a file or folder. Without one, as of a variable that is not set, it would be the caller's folder, or none. */
export function pathName(given: string): string {
  if (valueNotFlag(given) === "") throw new InvalidArgumentError("It is empty.");
  return given;
}

/** Reads the name of a file to be written, which must match `pattern`. `otherwise`: the refusal. */
export function fileNamed(pattern: RegExp, otherwise: string): (given: string) => string {
  return (given) => {
    if (!pattern.test(valueNotFlag(given))) throw new InvalidArgumentError(otherwise);
    return given;
  };
}

/** The seconds of a flag in whole milliseconds, because `AbortSignal.timeout` throws for 16100.000000000002. */
export function inMs(seconds: number): number {
  return Math.ceil(seconds * 1000);
}

/** Reads a whole number within these limits. */
export function wholeNumber(from: number, to: number): (given: string) => number {
  return (given) => {
    const number = Number(given);
    if (!/^\d+$/.test(given) || number < from || number > to) {
      throw new InvalidArgumentError(`It must be ${whole(from)} to ${whole(to)}.`);
    }
    return number;
  };
}
