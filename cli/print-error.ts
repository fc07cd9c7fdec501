import { styleText } from "node:util";
import type { PurgeError } from "../sdk/index.ts";
import { HOW_TO_CONFIGURE } from "../sdk/options.ts";
import { EXIT_OF } from "./exit-code.ts";

/** Prints a message on standard error, for whoever called the command. */
export function printError(message: string): void {
  process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${message}\n`);
}

/** What a person can do about a setting that is missing. */
const HOW_TO_CONFIGURE_HERE =
  "Set TIDEMARK_ENDPOINT or --endpoint to the site's origin, like https://www.example.com, and TIDEMARK_TOKEN to a " +
  "token of its edge.";

/** Prints why an edge did not carry out a call, and returns the exit code. */
export function printPurgeError(error: PurgeError): number {
  printError(error.message.replace(HOW_TO_CONFIGURE, HOW_TO_CONFIGURE_HERE));
  return EXIT_OF[error.code];
}
