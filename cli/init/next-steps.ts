import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, SCRIPTS, TEST_SCRIPT } from "./manifest.ts";

/** The steps to take after `tidemark init` in this folder. A script that is the owner's own is not taken for ours. */
export async function nextSteps(folder: string): Promise<string> {
  const { scripts = {} } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
  const run = (name: keyof typeof SCRIPTS) =>
    scripts[name] === SCRIPTS[name] ? `npm run ${name}` : `npx ${SCRIPTS[name]}`;
  const runOther = scripts["test:edge"] === TEST_SCRIPT ? "npm run test:edge" : `npx ${TEST_SCRIPT}`;
  const steps = [
    [`npm install && ${scripts.test === TEST_SCRIPT ? "npm test" : runOther}`, "the edge on a simulated CDN"],
    [run("dev"), "the edge at http://localhost:8787, in front of your site"],
    [run("deploy"), "then: npx wrangler secret put TIDEMARK_TOKEN"],
  ] as const;
  const width = Math.max(30, ...steps.map(([command]) => command.length)) + 4;
  const lines = steps.map(([command, words], index) => `  ${index + 1}. ${command.padEnd(width)}${words}\n`);
  return `Next:\n${lines.join("")}`;
}
