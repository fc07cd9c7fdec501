#!/usr/bin/env node
import { styleText } from "node:util";
import { EXIT } from "./exit-code.ts";

/** The version that undici needs, which sends the purges. On an older Node it fails to load, so this is checked first. */
const MIN_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1])) {
  const message = `this is Node ${process.versions.node}. tidemark serve needs 24 or later, the rest ${MIN_NODE.join(".")} or later.`;
  process.stderr.write(`${styleText("red", "tidemark:")} ${message}\n`);
  process.exitCode = EXIT.usage;
} else {
  for (const output of [process.stdout, process.stderr]) output.on("error", unlessClosed);
  const { runProgram } = await import("./program.ts");
  await runProgram(process.argv.slice(2));
}

/** A reader like `head` may have read enough, and a terminal may be gone. The command still finishes its work. */
function unlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
}
