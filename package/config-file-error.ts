import { type Stats, statSync } from "node:fs";
import { inspect } from "node:util";
import { OwnerError } from "./owner-error.ts";
import { systemErrorText } from "./system-error.ts";

/** The default file with a site's rules. */
export const DEFAULT_CONFIG = "tidemark.config.ts";

/** A config file is missing, does not compile, or has rules that are not valid. The message names the file and the place. */
export class ConfigFileError extends OwnerError {
  override readonly name = "ConfigFileError";
}

/** Throws a `ConfigFileError` if there is no such file, or a folder in its place, or no way to it. */
export function expectConfigFile(file: string): void {
  let stats: Stats | undefined;
  try {
    stats = statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    throw new ConfigFileError(`${file} cannot be read: ${systemErrorText(cause as NodeJS.ErrnoException)}.`, { cause });
  }
  if (stats === undefined) {
    throw new ConfigFileError(
      `there is no ${file}. Name another file with --config, or write one as the README shows.`,
    );
  }
  if (stats.isDirectory()) {
    throw new ConfigFileError(
      `${file} is a folder, and a config is a file. Docker makes such a folder where the file to mount does not exist: ` +
        "remove the folder, and write the file.",
    );
  }
}

/** In words, what the code of a config file threw, which may be anything. */
export function whatItThrew(thrown: unknown): string {
  if (typeof thrown === "string" && thrown !== "") return thrown;
  if (!(thrown instanceof Error)) return `it threw ${inspect(thrown)}`;
  return thrown.message || `it threw a ${thrown.name} without a message`;
}
