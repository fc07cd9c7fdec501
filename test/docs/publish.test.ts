import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ended, run } from "../packed/installed-package.ts";
import { builtRelease, PLAIN } from "../release/built-release.ts";

const PYTHON = "sdk/python/pyproject.toml";
const REPOSITORY = ["repository.type=git", "repository.url=git+https://github.example/owner/name.git"];

let folder: string;
let version: string;
let workflow: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-publish-"));
  for (const each of [".ci", "sdk/python"]) await mkdir(join(folder, each), { recursive: true });
  for (const each of ["package.json", ".ci/require-repository.ts", PYTHON]) await copyFile(each, join(folder, each));
  ({ version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string });
  workflow = await readFile(".github/workflows/publish.yml", "utf8");
});

afterAll(() => rm(folder, { recursive: true }));

/** What npm runs before it publishes. `tag`: the one that was pushed. Default: none, as on a laptop. */
const beforePublishing = (tag = ""): Promise<Ended> =>
  run("npm", ["run", "--silent", "prepublishOnly"], { cwd: folder, env: { GITHUB_REF_NAME: tag } });

test("the package is published only if it says where it comes from, and from the files of a release", {
  tags: ["gate"],
}, async () => {
  expect(await beforePublishing()).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/package\.json has no repository\. Set it once, and commit it: npm pkg set/),
  });
  expect(await run("npm", ["pkg", "set", ...REPOSITORY], { cwd: folder })).toMatchObject({ exit: 0 });
  expect(await beforePublishing()).toMatchObject({ exit: 0 });

  const steps = [...workflow.matchAll(/- run: (.*)/g)].map(([, step]) => step);
  const order = ["node .ci/require-repository.ts", "npm run check", "npm run release -- --dry-run"];
  expect(steps.filter((step) => order.includes(step!))).toEqual(order);
  expect(steps).toContain("npm publish ./tidemark-*.tgz --provenance --access public");
  expect(steps).toContain("npm audit signatures");
});

test("the package is published only if tag, npm and PyPI have the same version", { tags: ["gate"] }, async () => {
  expect(await run("npm", ["pkg", "set", ...REPOSITORY], { cwd: folder })).toMatchObject({ exit: 0 });
  expect(await beforePublishing(`v${version}`)).toMatchObject({ exit: 0 });
  expect(await beforePublishing("v999.0.0")).toMatchObject({
    exit: 1,
    stderr: `The tag v999.0.0 is not that of the version ${version} in package.json.\n`,
  });
  await writeFile(join(folder, PYTHON), (await readFile(PYTHON, "utf8")).replace(version, "0.0.9"));
  expect(await beforePublishing(`v${version}`)).toMatchObject({
    exit: 1,
    stderr: `package.json has the version ${version}, and ${PYTHON} has 0.0.9. Write the same into both, and commit it.\n`,
  });
});

test("a version with a hyphen is published as a prerelease, not as the latest version", () => {
  const ofPrereleases = (word: string) => `\${{ contains(github.ref_name, '-') && '${word}' || '' }}`;
  expect(workflow).toMatch(/- run: npm publish .*\n +env:\n/);
  // npm takes an empty variable for none.
  expect(workflow).toContain(`npm_config_tag: ${ofPrereleases("next")}\n`);
  expect(workflow).toMatch(/- run: gh release create .*\n/);
  const [create] = /gh release create .*/.exec(workflow)!;
  expect(create).toContain(` ${ofPrereleases("--prerelease")} `);
});

test("the workflow brings the keys of Debian, whose libraries are in the image", () => {
  const keys = workflow.indexOf("apt-get install --yes debian-archive-keyring\n");
  expect(keys).toBeGreaterThan(0);
  expect(keys).toBeLessThan(workflow.indexOf("npm run release -- --dry-run"));
});

test("each file that is published has a line in SHA256SUMS, and one file alone can be compared", {
  tags: ["deep"],
  timeout: 600_000,
}, async () => {
  const release = await builtRelease(PLAIN);
  const [, words] = /gh release create .*--verify-tag (.*)/.exec(workflow)!;
  const patterns = words!.replace("SHA256SUMS", "");
  const uploaded = await run("sh", ["-c", `ls -d ${patterns} | sed 's,^\\./,,' | LC_ALL=C sort`], { cwd: release });
  const sums = await readFile(join(release, "SHA256SUMS"), "utf8");
  expect(uploaded).toMatchObject({ exit: 0, stderr: "", stdout: sums.replaceAll(/^\w{64} {2}/gm, "") });

  const downloaded = (await readdir(release)).filter((name) => /amd64\.deb$|^SHA256SUMS$/.test(name));
  expect(downloaded).toHaveLength(2);
  for (const each of downloaded) await copyFile(join(release, each), join(folder, each));
  const [command] = /sha256sum --check [^`]*/.exec(await readFile("docs/getting-started.md", "utf8"))!;
  expect(await run("sh", ["-c", command], { cwd: folder })).toMatchObject({ exit: 0, stderr: "" });
});
