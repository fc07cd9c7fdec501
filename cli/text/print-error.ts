import { styleText } from "node:util";
import { textWithoutCall } from "../../sdk/errors.ts";
import type { PurgeError } from "../../sdk/index.ts";
import { EXIT_OF } from "../exit-code.ts";

/** Prints a message on standard error, for whoever called the command. */
export function printError(message: string): void {
  process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${message}\n`);
}

/** Prints why an edge did not carry out a call, and returns the exit code. */
export function printPurgeError(error: PurgeError): number {
  printError(textWithoutCall(error));
  return EXIT_OF[error.code];
}
