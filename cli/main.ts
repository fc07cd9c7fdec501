#!/usr/bin/env node
import { systemErrorText } from "../package/system-error.ts";
import { EXIT } from "./exit-code.ts";
import { printError } from "./text/print-error.ts";

/** The version that undici needs, which sends the purges. On an older Node it fails to load, so this is checked first. */
const MIN_NODE = [22, 19] as const;

let isReported = false;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (process.versions.bun !== undefined) {
  printError(`this is Bun ${process.versions.bun}, and tidemark needs Node. With bunx, leave out --bun.`);
  process.exitCode = EXIT.usage;
} else if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  printError(
    `this is Node ${process.versions.node}. tidemark serve needs 24 or later, the rest ${MIN_NODE.join(".")} or later.`,
  );
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
