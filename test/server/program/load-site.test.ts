import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { ConfigFileError } from "../../../package/config-file-error.ts";
import { loadSite } from "../../../server/program/load-site.ts";
import { run } from "../../packed/installed-package.ts";
import { inGate } from "../../suite/depth.ts";

const CLI = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

test.each([
  ["waits for ever", "await new Promise(() => {});"],
  ["computes for ever", "for (;;);"],
])(
  "a config that %s is refused and ended, so that a later one can be loaded, and its files are known",
  async (_, endless) => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
    const file = join(folder, "tidemark.config.ts");
    const socket = join(folder, "of-the-config.sock");
    const listens = `await new Promise((resolve) => createServer().listen(${JSON.stringify(socket)}, resolve));`;
    const site = 'export default { origin: "http://127.0.0.1:8000", hosts: ["www.example.com"] };';
    writeFileSync(file, `import { createServer } from "node:net";\n${listens}\n${endless}\n${site}\n`);
    const read = new Map<string, string>();
    const error = await loadSite(file, {}, read, 100).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(ConfigFileError);
    expect((error as Error).message).toBe(
      `${file}: the file has not loaded within 0.1 s; it must not wait for anything, nor have very many routes`,
    );
    expect([...read.keys()]).toEqual([file]);
    await expect(once(connect(socket), "connect")).rejects.toThrow(/ECONNREFUSED|ENOENT/); // ENOENT: it was ended before
    rmSync(folder, { recursive: true });
  },
);

test("a config that waits for what never comes is refused with that reason, and Node prints nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const file = join(folder, "tidemark.config.ts");
  writeFileSync(file, "await new Promise(() => {});\nexport default {};\n");
  for (const command of inGate(1, ["serve", "dev"])) {
    const args = [CLI, command, "--config", file, ...(command === "serve" ? ["--check"] : [])];
    expect(await run(process.execPath, args, { cwd: folder })).toMatchObject({
      exit: 2,
      stderr: `tidemark: ${file}: an await in the file never ends\n`,
    });
  }
  rmSync(folder, { recursive: true });
});

test.each([
  [
    "an import of what the package lacks",
    'import "tidemark/workr";',
    "there is no tidemark/workr; did you mean tidemark/worker\\?",
  ],
  ["what is no TypeScript", "const a = { b: ];", "(?:Expected|Unexpected|Expression expected).*"],
])("a config with %s is refused with the reason after its name, which stands there once", async (_, line, reason) => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const file = join(folder, "tidemark.config.ts");
  writeFileSync(file, `${line}\nexport default { origin: "http://127.0.0.1:8000" };\n`);
  const told = new RegExp(`^tidemark: ${file}(?::1)?(?::\\d+)?: ${reason}\n$`);
  for (const command of ["serve", "dev"]) {
    const args = [CLI, command, "--config", file, ...(command === "serve" ? ["--check"] : [])];
    expect(await run(process.execPath, args, { cwd: folder })).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(told),
    });
  }
  rmSync(folder, { recursive: true });
});

test("a config with a function where none may be is refused with its place, and no timer goes on", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const file = join(folder, "tidemark.config.ts");
  const routes = 'routes: [{ match: "/*", tags: (url) => [url] }]';
  writeFileSync(file, `export default { origin: "http://127.0.0.1:8000", hosts: ["www.example.com"], ${routes} };\n`);
  const error = await loadSite(file, {}).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ConfigFileError);
  expect((error as Error).message).toMatch(`${file} is not valid:\n  routes[0].tags: `);
  expect(vi.getTimerCount()).toBe(0); // which would keep a check from ending
  rmSync(folder, { recursive: true });
});

test.each([
  ["a promise that nobody awaits", 'void Promise.reject(new Error("the list is gone")); await new Promise(() => {});'],
  ["a timer", 'setTimeout(() => { throw new Error("the list is gone"); }); await new Promise(() => {});'],
])("a config that fails in %s is refused, with its name", async (_, failing) => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-"));
  const file = join(folder, "tidemark.config.ts");
  writeFileSync(file, `${failing}\nexport default { origin: "http://127.0.0.1:8000", hosts: ["www.example.com"] };\n`);
  const error = await loadSite(file, {}).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ConfigFileError);
  expect((error as Error).message).toBe(`${file}: the list is gone`);
  rmSync(folder, { recursive: true });
});
