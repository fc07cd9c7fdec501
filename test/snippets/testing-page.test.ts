import { readFileSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { run, tool } from "../packed/installed-package.ts";

/** The page's tests, as a reader would copy them into a project that has the package installed. */
const blocks = [...readFileSync("docs/testing.md", "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
  ([, code]) => code!,
);

const folder = join(inject("packedProject"), "testing-page");

function runnerOf(block: string): "node" | "vitest" {
  return block.includes('"node:test"') ? "node" : "vitest";
}

beforeAll(async () => {
  await mkdir(folder);
  await cp("tidemark.config.ts", join(folder, "tidemark.config.ts"));
  for (const [index, block] of blocks.entries()) {
    await writeFile(join(folder, `${runnerOf(block)}-${index}.test.mts`), block);
  }
});

afterAll(() => rm(folder, { recursive: true }));

/** Runs the page's tests for vitest in the files whose names begin so, of which `count` have to pass. */
async function pass(files: string, count: number): Promise<void> {
  const [node, vitest] = tool("vitest");
  const { exit, stdout, stderr } = await run(node, [vitest, "run", "--no-color", "--testTimeout=30000", files], {
    cwd: folder,
  });
  expect(stdout + stderr).toMatch(new RegExp(`Tests +${count} passed`));
  expect(exit).toBe(0);
}

test("the first test for vitest passes", { timeout: 60_000 }, () =>
  pass(`vitest-${blocks.findIndex((block) => runnerOf(block) === "vitest")}`, 1),
);

test("the tests for vitest pass", { tags: ["deep"], timeout: 60_000 }, () => pass("vitest-", 3));

test("the test for node:test passes, also without what Node 22 lacks", { tags: ["deep"] }, async () => {
  const name = blocks.findIndex((block) => block.includes('"node:test"'));
  const asNode22 = ["--no-js-explicit-resource-management", `node-${name}.test.mts`];
  const { exit, stdout } = await run(process.execPath, asNode22, { cwd: folder });
  expect(stdout).toMatch(/pass 1\b/);
  expect(exit).toBe(0);
});
