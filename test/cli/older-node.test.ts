import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "../packed/installed-package.ts";

const CLI = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

const HERE = { cwd: "." };

/** Makes the process say that it runs on this Node, or on a Bun that says so. */
function claiming(version: string, bun: string | null = null): string {
  const versions = `{ ...process.versions, ...${JSON.stringify({ node: version, ...(bun !== null && { bun }) })} }`;
  return `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
}

test.each(["20.20.2", "22.18.0", "23.11.0"])(
  "on Node %s, the error names what each command needs, so that one upgrade is enough",
  async (version) => {
    for (const command of ["serve", "purge"]) {
      const said = await run(process.execPath, ["--import", claiming(version), CLI, command], HERE);
      expect(said).toMatchObject({ exit: 2, stdout: "" });
      expect(said.stderr).toContain(
        `this is Node ${version}. tidemark serve and replay need 24 or later; for the rest, 22.19 or a later 22 is enough.`,
      );
    }
  },
);

test("on Bun, which says that it is a Node, the error names Node", async () => {
  const said = await run(process.execPath, ["--import", claiming("26.3.0", "1.4.5"), CLI, "purge"], HERE);
  expect(said).toEqual({
    exit: 2,
    stdout: "",
    stderr: "tidemark: this is Bun 1.4.5, and tidemark needs Node. With bunx, leave out --bun.\n",
  });
});

test("Node 22.19 runs all but serve and replay", async () => {
  expect(await run(process.execPath, ["--import", claiming("22.19.0"), CLI, "--version"], HERE)).toMatchObject({
    exit: 0,
  });
  for (const args of [["serve"], ["replay", "access.log"]]) {
    const said = await run(process.execPath, ["--import", claiming("22.19.0"), CLI, ...args], HERE);
    expect(said).toMatchObject({ exit: 2, stderr: expect.stringContaining("needs Node 24 or later") });
  }
});
