#!/usr/bin/env node
import { systemErrorText } from "../package/system-error.ts";
import { isSupportedNode } from "../sdk/supported-node.ts";
import { EXIT } from "./exit-code.ts";
import { printError } from "./text/print-error.ts";

let isReported = false;

if (process.versions.bun !== undefined) {
  printError(`this is Bun ${process.versions.bun}, and tidemark needs Node. With bunx, leave out --bun.`);
  process.exitCode = EXIT.usage;
} else if (!isSupportedNode(process.versions.node)) {
  // Asked before the commands are loaded, which fails on other versions.
  const needed = "tidemark serve and replay need 24 or later; for the rest, 22.19 or a later 22 is enough.";
  printError(`this is Node ${process.versions.node}. ${needed}`);
  process.exitCode = EXIT.usage;
} else {
  process.stdout.on("error", reportUnwritten);
  process.stderr.on("error", () => undefined); // nobody is left to tell
  const { runProgram } = await import("./program.ts");
  await runProgram(process.argv.slice(2));
}

/** A reader like `head` may have read enough, and a terminal may be gone. The command still finishes its work. */
function reportUnwritten(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE" || error.code === "EIO" || isReported) return;
  isReported = true;
  printError(`the output could not be written: ${systemErrorText(error)}. What the command has done stays done.`);
  process.on("exit", () => {
    process.exitCode ||= EXIT.unwritten;
  });
}
