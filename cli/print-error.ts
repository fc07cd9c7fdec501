import { styleText } from "node:util";
import type { PurgeError } from "../sdk/index.ts";
import { EXIT_OF } from "./exit-code.ts";

/** Words on standard error, for whoever called the command. */
export function complain(words: string): void {
  process.stderr.write(`${styleText("red", "tidemark:", { stream: process.stderr })} ${words}\n`);
}

/** Says why an edge could not do it, and returns the exit code. */
export function complainOf(error: PurgeError): number {
  complain(error.message);
  if (error.code === "not-configured") {
    complain("here --endpoint can name the endpoint; the token comes from TIDEMARK_TOKEN alone.");
  }
  return EXIT_OF[error.code];
}
