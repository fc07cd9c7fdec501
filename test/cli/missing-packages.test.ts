import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../packed/installed-package.ts";

const CLI = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  mkdirSync(join(folder, "miniflare"));
  writeFileSync(join(folder, "miniflare", "package.json"), '{ "version": "3.20250101.0" }');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Has packages found as Yarn's Plug'n'Play does, which puts none where Node looks: those in the folder, and no others. */
function withPlugAndPlay(): string {
  const script = `
    import Module from "node:module";
    import { existsSync } from "node:fs";
    const resolveToUnqualified = (name) => {
      const folder = ${JSON.stringify(folder)} + "/" + name;
      if (!existsSync(folder)) throw new Error(name + " isn't provided by your application");
      return folder;
    };
    Module.findPnpApi = () => ({ resolveToUnqualified });`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
}

test("packages are looked for where Yarn's Plug'n'Play has them", async () => {
  const said = await run(process.execPath, ["--import", withPlugAndPlay(), CLI, "dev"], { cwd: folder });
  expect(said).toMatchObject({ exit: 2, stdout: "" });
  expect(said.stderr).toMatch(/miniflare 4\.\d+\.\d+ or a later 4, but here is 3\.20250101\.0/);
});

test.each([
  ["yarn.lock", "yarn add --dev"],
  ["pnpm-lock.yaml", "pnpm add --save-dev"],
  ["bun.lock", "bun add --dev"],
  ["package-lock.json", "npm install --save-dev"],
])("with a %s, missing packages are to be added by %s", async (lock, command) => {
  const project = mkdtempSync(join(folder, "project-"));
  writeFileSync(join(project, lock), "");
  const said = await run(process.execPath, ["--import", withPlugAndPlay(), CLI, "dev"], { cwd: project });
  expect(said).toMatchObject({ exit: 2, stdout: "" });
  expect(said.stderr).toMatch(new RegExp(`\\n\\n  ${command} miniflare@[\\d.]+ esbuild@[\\d.]+\\n$`));
});
