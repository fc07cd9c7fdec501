/** A config file that is missing, does not compile, or has rules that are not valid. The message says which and where. */
export class ConfigFileError extends Error {
  override readonly name = "ConfigFileError";
}
