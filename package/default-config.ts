import { existsSync } from "node:fs";
import { ConfigFileError, DEFAULT_CONFIG } from "./config-file-error.ts";

/** The endings of modules, of which a config is one. */
const ENDINGS = ["ts", "mts", "cts", "js", "mjs", "cjs"];

/**
 * The site's rules in this folder, where none are named: `tidemark.config.ts`, also with another ending; that name if there are
 * none. Throws a `ConfigFileError` for several, because all but one would be passed over.
 */
export function defaultConfig(): string {
  const [first = DEFAULT_CONFIG, second] = ENDINGS.map((ending) => `tidemark.config.${ending}`).filter(existsSync);
  if (second === undefined) return first;
  throw new ConfigFileError(`there are ${first} and ${second}: remove one, or name the site's rules with --config`);
}
