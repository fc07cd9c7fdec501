/**
 * The one gate: everything that must hold before a change lands. Stops at the first step that fails. With `--all` the
 * tests also play every scenario under up to 20 orders of events.
 */
import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { parseArgs, styleText } from "node:util";
import { LONG_IN_ONE } from "../test/suite/long-tests.ts";
import { seed } from "../test/suite/seed.ts";

/** The Node that the toolchain needs comes with the dependencies; a direct call of a binary would miss it. */
const LEAST_NODE = 24;

type Step = readonly [name: string, command: string, ...args: string[]];

/** Side by side, because none keeps two cores busy. */
const BEFORE_THE_TESTS: readonly Step[] = [
  ["types of the Node side", "npx", "tsc", "-p", "."],
  ["types of the worker", "npx", "tsc", "-p", "worker"],
  ["types of the dashboard", "npx", "tsc", "-p", "dashboard"],
  ["lint and format", "npx", "biome", "ci", "."],
];
// The tests build and pack the package, once. Import arrows, scenarios on all three engines, and the deployable bundle
// with its size and proof are tests, too.
const TESTS: Step = ["tests", "npm", "test", "--silent"];

if (Number(process.versions.node.split(".")[0]) < LEAST_NODE) {
  console.error(
    `This is Node ${process.versions.node}. Run the gate as "npm run check": it brings Node ${LEAST_NODE}.`,
  );
  process.exit(1);
}

const { all } = parseArgs({ options: { all: { type: "boolean", default: false } } }).values;
const env = { ...process.env, TEST_DEPTH: all ? "all" : "gate", TEST_SEED: String(seed) };

/** Runs a step, and says how it went. `output`: where its words go; by default they come at its end, all together. */
async function passes([name, command, ...args]: Step, output: "inherit" | "pipe" = "pipe"): Promise<boolean> {
  const startedAt = performance.now();
  const stdio: StdioOptions = ["inherit", output, output];
  const child = spawn(command, args, { stdio, env });
  const words = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ""));
  const ended = once(child, "close").then(
    ([status]) => (status === 0 ? null : "failed"),
    (error: Error) => `failed (${error.message})`,
  );
  const said = await Promise.all(words);
  const failure = await ended;
  const took = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  if (failure === null) console.log(styleText("green", `✓ ${name}, ${took}`));
  else console.error(`${said.join("")}${styleText("red", `✗ ${name} ${failure}: ${[command, ...args].join(" ")}`)}`);
  return failure === null;
}

if ((await Promise.all(BEFORE_THE_TESTS.map((step) => passes(step)))).includes(false)) process.exit(1);
const part = all ? "all" : `a part, with one in ${LONG_IN_ONE} of the longest files, drawn by TEST_SEED=${seed}`;
console.log(styleText("bold", `▶ ${TESTS[0]}: ${part}`));
if (!(await passes(TESTS, "inherit"))) process.exit(1);
