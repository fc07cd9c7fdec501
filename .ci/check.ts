/**
 * The one gate: everything that must hold before a change lands. Stops at the first step that fails, and fails if it takes
 * more than its budget. With `--all` it also runs the tests that are tagged as deep.
 */
import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { parseArgs, styleText } from "node:util";
import { COUNTS_CHILDREN, cpuSeconds } from "../test/suite/cpu-seconds.ts";

/** The Node that the toolchain needs comes with the dependencies; a direct call of a binary would miss it. */
const LEAST_NODE = 24;

/**
 * The most that a run may take on two cores. A quiet machine takes little more than half of the CPU time, and a busy one
 * almost twice as much for the same work: two runs of the same tests within an hour took 1,190 and 1,340 s. A run that takes
 * more has tests that are too dear: make them cheaper, or tag them as deep.
 */
const BUDGETS = {
  gate: { cpuSeconds: 1_500, minutes: 15 },
  all: { cpuSeconds: 4_500, minutes: 80 },
} as const;

type Step = readonly [name: string, command: string, ...args: string[]];

/** Side by side, because none keeps two cores busy. */
const BEFORE_THE_TESTS: readonly Step[] = [
  // Each checker works out again what others know: with four, the default, half as much again.
  ["types of the Node side", "npx", "tsc", "-p", ".", "--singleThreaded"],
  ["types of the worker", "npx", "tsc", "-p", "worker", "--singleThreaded"],
  ["types of the dashboard", "npx", "tsc", "-p", "dashboard", "--singleThreaded"],
  ["lint and format", "npx", "biome", "ci", "."],
];
// The tests build and pack the package, once. Import arrows, scenarios on three engines, and the deployable bundle
// with its size and proof are tests, too.
const TESTS: Step = ["tests", "npm", "test", "--silent"];

if (Number(process.versions.node.split(".")[0]) < LEAST_NODE) {
  console.error(
    `This is Node ${process.versions.node}. Run the gate as "npm run check": it brings Node ${LEAST_NODE}.`,
  );
  process.exit(1);
}

const { all } = parseArgs({ options: { all: { type: "boolean", default: false } } }).values;
const depth = all ? "all" : "gate";
const env = { ...process.env, TEST_DEPTH: depth };

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
console.log(styleText("bold", `▶ ${TESTS[0]}${all ? ", all" : ", without those tagged as deep"}`));
if (!(await passes(TESTS, "inherit"))) process.exit(1);
if (!isWithinBudget()) process.exit(1);

/** Says how long this run took. CPU time tells more than minutes, which depend on what else the machine does. */
function isWithinBudget(): boolean {
  const budget = BUDGETS[depth];
  const minutes = performance.now() / 60_000;
  const cpu = COUNTS_CHILDREN ? Math.round(cpuSeconds()) : null;
  const isWithin = minutes <= budget.minutes && (cpu ?? 0) <= budget.cpuSeconds;
  const took = `${minutes.toFixed(1)} minutes of ${budget.minutes}`;
  const words = `${took}, ${cpu === null ? "CPU time unknown" : `${cpu} CPU seconds`} of ${budget.cpuSeconds}`;
  if (isWithin) console.log(styleText("green", `✓ budget: ${words}`));
  else console.error(styleText("red", `✗ over budget: ${words}. The table above says which folder of tests is dear.`));
  return isWithin;
}
