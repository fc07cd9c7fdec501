import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tidemark } from "./run-command.ts";

const SITE = '{ origin: "http://127.0.0.1:8000", routes: [{ match: "/admin*", pass: true }] };\n';
const SEVERAL =
  "there are tidemark.config.ts and tidemark.config.mjs: remove one, or name the site's rules with --config";
const INIT = ["init", "--origin", "http://a.example", "--host", "b.example"];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a config with this ending. */
function write(ending: string): void {
  const exported = ending.startsWith("c") ? "module.exports =" : "export default";
  writeFileSync(join(folder, `tidemark.config.${ending}`), `${exported} ${SITE}`);
}

test.each(["ts", "mts", "cts", "js", "mjs", "cjs"])(
  "tidemark.config.%s has a site's rules, without --config",
  async (ending) => {
    write(ending);
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    for (const args of [["serve", "--check"], ["check"]]) {
      const { exit, stdout } = await tidemark({ args, cwd: folder });
      expect({ exit, stdout }).toEqual({
        exit: 0,
        stdout: expect.stringContaining(`1 route in tidemark.config.${ending}`),
      });
    }
  },
);

test.each([
  { args: ["serve", "--check"], words: SEVERAL },
  { args: ["check"], words: SEVERAL },
  { args: ["dev"], words: SEVERAL },
  { args: INIT, words: `${SEVERAL}. Nothing was written.` },
])("$args.0 passes over none of several", async ({ args, words }) => {
  write("ts");
  write("mjs");
  const { exit, stdout, stderr } = await tidemark({ args, cwd: folder });
  expect({ exit, stdout, stderr }).toEqual({ exit: 2, stdout: "", stderr: `tidemark: ${words}\n` });
});

test("of several, --config names one", async () => {
  write("ts");
  write("mjs");
  const args = ["serve", "--check", "--config", "tidemark.config.mjs"];
  const { exit, stdout } = await tidemark({ args, cwd: folder });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("1 route in tidemark.config.mjs") });
});

test("init writes no second config", async () => {
  write("mjs");
  const { exit, stderr } = await tidemark({ args: INIT, cwd: folder });
  expect(exit).toBe(2);
  expect(stderr).toContain("tidemark.config.mjs has the site's rules already");
});

test("a folder of sites takes the same endings", async () => {
  const site = '{ origin: "http://127.0.0.1:8000", hosts: ["blog.example"] }';
  writeFileSync(join(folder, "blog.config.cjs"), `module.exports = ${site};\n`);
  writeFileSync(join(folder, "blog.env"), "TIDEMARK_TOKEN=Xr7n2Qm4Zt8w1Kp6Vb3c9Jd5Hs0fYg7Lk2Wq\n");
  const { exit, stdout, stderr } = await tidemark({ args: ["serve", "--check", "--sites", folder], cwd: folder });
  expect({ exit, printed: stdout + stderr }).toEqual({ exit: 0, printed: expect.stringContaining("blog.example") });
});
