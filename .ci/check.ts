/**
 * The one gate: everything that must hold before a change lands. Stops at the first step that fails. With `--all` the
 * tests also play every scenario under up to 20 orders of events.
 */
import { spawnSync } from "node:child_process";
import { parseArgs, styleText } from "node:util";

/** The Node that the toolchain needs comes with the dependencies; a direct call of a binary would miss it. */
const LEAST_NODE = 24;

const STEPS: readonly (readonly [name: string, command: string, ...args: string[]])[] = [
  ["types of the Node side", "npx", "tsc", "-p", "."],
  ["types of the worker", "npx", "tsc", "-p", "worker"],
  ["types of the dashboard", "npx", "tsc", "-p", "dashboard"],
  ["lint and format", "npx", "biome", "ci", "."],
  // The tests build and pack the package, once. Import arrows, scenarios on all three engines, and the deployable bundle
  // with its size and proof are tests, too.
  ["tests", "npm", "test", "--silent"],
];

if (Number(process.versions.node.split(".")[0]) < LEAST_NODE) {
  console.error(
    `This is Node ${process.versions.node}. Run the gate as "npm run check": it brings Node ${LEAST_NODE}.`,
  );
  process.exit(1);
}

const { all } = parseArgs({ options: { all: { type: "boolean", default: false } } }).values;
const env = { ...process.env, TEST_DEPTH: all ? "all" : "gate" };

for (const [name, command, ...args] of STEPS) {
  const startedAt = performance.now();
  console.log(styleText("bold", `\n▶ ${name}`));
  const { status, error } = spawnSync(command, args, { stdio: "inherit", env });
  if (status !== 0) {
    console.error(
      styleText("red", `✗ ${name} failed: ${[command, ...args].join(" ")}${error ? ` (${error.message})` : ""}`),
    );
    process.exit(1);
  }
  console.log(styleText("green", `✓ ${name}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`));
}
