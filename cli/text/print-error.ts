import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { styleText } from "node:util";
import { systemErrorText } from "../../package/system-error.ts";
import { PurgeError, textWithoutCall } from "../../sdk/errors.ts";
import { printable } from "../../wire/text/printable.ts";
import { EXIT_OF } from "../exit-code.ts";

/** Prints a message on standard error, for whoever called the command. */
export function printError(message: string): void {
  process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${message}\n`);
}

/** Prints an error for the caller, and of a file that the system does not open, which and why. */
export function printFailure(error: Error): void {
  const { path, syscall } = error as NodeJS.ErrnoException;
  if (path === undefined || syscall === undefined) {
    printError(error.message);
    return;
  }
  const folder = dirname(path);
  const why = existsSync(folder) ? systemErrorText(error) : `there is no folder ${folder}`;
  printError(`${path} cannot be opened: ${why}.`);
}

/** Prints why an edge did not carry out a call, and returns the exit code. Throws any other error again: that is a bug. */
export function printPurgeError(error: unknown): number {
  if (!(error instanceof PurgeError)) throw error;
  printError(printable(textWithoutCall(error))); // whatever answered may have worded it
  return EXIT_OF[error.code];
}
