import { existsSync } from "node:fs";
import { ConfigFileError } from "./config-file-error.ts";

/** The endings of modules, of which a config is one. */
const ENDINGS = ["ts", "mts", "cts", "js", "mjs", "cjs"];

/**
 * The file with the site's rules in this folder, where none is named: `tidemark.config.ts`, also with another ending; `null` for
 * none. Throws a `ConfigFileError` for several, because all but one would be passed over.
 */
export function defaultConfig(): string | null {
  const [first = null, second] = ENDINGS.map((ending) => `tidemark.config.${ending}`).filter(existsSync);
  if (second === undefined) return first;
  throw new ConfigFileError(`there are ${first} and ${second}: remove one, or name the site's rules with --config`);
}
