import { styleText } from "node:util";
import { PurgeError, textWithoutCall } from "../../sdk/errors.ts";
import { printable } from "../../wire/text/printable.ts";
import { EXIT_OF } from "../exit-code.ts";

/** Prints a message on standard error, for whoever called the command. */
export function printError(message: string): void {
  process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${message}\n`);
}

/** Prints why an edge did not carry out a call, and returns the exit code. Throws any other error again: that is a bug. */
export function printPurgeError(error: unknown): number {
  if (!(error instanceof PurgeError)) throw error;
  printError(printable(textWithoutCall(error))); // whatever answered may have worded it
  return EXIT_OF[error.code];
}
