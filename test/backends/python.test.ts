import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startCdn } from "tidemark/local";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { run } from "../packed/installed-package.ts";
import { pythonWithPackages } from "./python-environment.ts";

const environment = await pythonWithPackages();
const python = "python" in environment ? environment.python : null;
const title = "missing" in environment ? `Python is SKIPPED, because ${environment.missing}` : "the package for Python";
if (python === null) process.stdout.write(`${title}\n`);

/** The pages that the tests of `sdk/python/tests` take one by one. */
const PAGES = Array.from({ length: 20 }, (_, index) => `page-${index}`);
const pageWithTag = (tag: string) => ({ fields: { "cache-control": "max-age=3600", "cache-tag": tag }, body: tag });

describe.skipIf(python === null)(title, { timeout: 120_000 }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tidemark-python-"));
    await cp(resolve("sdk/python"), join(folder, "sources"), { recursive: true }); // builds leave files there
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const command = (args: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
    run(python!, args, {
      cwd: join(folder, "sources"),
      env: { PATH: process.env.PATH!, PYTHONDONTWRITEBYTECODE: "1", no_proxy: "*", ...settings },
    });

  /** Runs the package's own tests on the one that is found in this folder, against an edge. */
  async function expectPurges(PYTHONPATH: string): Promise<void> {
    const cdn = await startCdn({
      site: {},
      origin: Object.fromEntries(PAGES.map((name) => [`/pages/${name}`, pageWithTag(name)])),
    });
    try {
      const tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", "--import-mode=importlib", "tests"];
      const page = await readFile("docs/purging.md", "utf8");
      const EXAMPLE = /^```python\n(from tidemark import Purger\n.*?)^```/ms.exec(page)![1]!;
      const settings = { TIDEMARK_ENDPOINT: cdn.url(), TIDEMARK_TOKEN: cdn.token, PYTHONPATH, EXAMPLE };
      const { exit, stdout } = await command(["-P", ...tests], settings);
      expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringMatching(/\d\d passed/) });
    } finally {
      await cdn.close();
    }
  }

  test("purges a running edge", () => expectPurges(join(folder, "sources")));

  test("installs from a wheel, and purges a running edge", { tags: ["deep"] }, async () => {
    const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"];
    const built = await command([...pip, "wheel", "--no-build-isolation", "--no-deps", "-w", "../dist", "."]);
    expect(built).toMatchObject({ exit: 0 });
    const wheels = ["--no-index", "--find-links", "../dist", "--no-deps", "--target", "../installed", "tidemark"];
    expect(await command([...pip, "install", ...wheels])).toMatchObject({ exit: 0 });
    await expectPurges(join(folder, "installed"));
  });

  test("has types that mypy accepts", { tags: ["deep"] }, async () => {
    const { exit, stdout } = await command(["-m", "mypy"]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("Success") });
  });
});
