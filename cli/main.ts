#!/usr/bin/env node
import { styleText } from "node:util";
import { EXIT } from "./exit-code.ts";

/** undici, which sends the purges, does not even load on an older one: this must be said before anything else is. */
const LEAST_NODE = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1])) {
  const words = `this is Node ${process.versions.node}; the command needs ${LEAST_NODE.join(".")} or later.`;
  process.stderr.write(`${styleText("red", "tidemark:")} ${words}\n`);
  process.exitCode = EXIT.usage;
} else {
  const { runProgram } = await import("./program.ts");
  await runProgram();
}
