import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run, tool } from "../installed-package.ts";

/** The page's tests, as somebody would copy them; the package's names lead to its sources. */
const blocks = [...readFileSync("docs/testing.md", "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(
  ([, code]) => code!,
);
const ENTRIES: Readonly<Record<string, string>> = {
  tidemark: "sdk/index.ts",
  "tidemark/local": "local/index.ts",
  "tidemark/local/matchers": "local/vitest-matchers.ts",
};

const folder = join("dist", "testing-page");

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  for (const [index, block] of blocks.entries()) {
    const code = block.replaceAll(/(from |import )"(tidemark[^"]*)"/g, (_, before: string, name: string) => {
      return `${before}"../../${ENTRIES[name]}"`;
    });
    const runner = code.includes('"node:test"') ? "node" : "vitest";
    await writeFile(join(folder, `${runner}-${index}.test.ts`), code);
  }
});

afterAll(() => rm(folder, { recursive: true }));

test("the tests for vitest pass", async () => {
  const [node, vitest] = tool("vitest");
  const args = [vitest, "run", "--no-color", "--root", folder, "vitest-"];
  const { exit, stdout, stderr } = await run(node, args, { cwd: "." });
  expect(stdout + stderr).toMatch(/Tests +3 passed/);
  expect(exit).toBe(0);
}, 60_000);

test("the test for node:test passes", async () => {
  const name = blocks.findIndex((block) => block.includes('"node:test"'));
  const { exit, stdout } = await run(process.execPath, ["--test", join(folder, `node-${name}.test.ts`)], { cwd: "." });
  expect(stdout).toMatch(/pass 1\b/);
  expect(exit).toBe(0);
});
