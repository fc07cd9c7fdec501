import { inspect } from "node:util";
import { OwnerError } from "./owner-error.ts";

/** The default file with a site's rules. */
export const DEFAULT_CONFIG = "tidemark.config.ts";

/** A config file is missing, does not compile, or has rules that are not valid. The message names the file and the place. */
export class ConfigFileError extends OwnerError {
  override readonly name = "ConfigFileError";
}

/** In words, what the code of a config file threw, which may be anything. */
export function whatItThrew(thrown: unknown): string {
  if (typeof thrown === "string" && thrown !== "") return thrown;
  if (!(thrown instanceof Error)) return `it threw ${inspect(thrown)}`;
  return thrown.message || `it threw a ${thrown.name} without a message`;
}
