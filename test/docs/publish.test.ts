import { copyFile, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ended, run } from "../packed/installed-package.ts";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tidemark-publish-"));
  await mkdir(join(folder, ".ci"));
  for (const each of ["package.json", ".ci/require-repository.ts"]) await copyFile(each, join(folder, each));
});

afterAll(() => rm(folder, { recursive: true }));

/** What npm runs before it publishes. */
const beforePublishing = (): Promise<Ended> => run("npm", ["run", "--silent", "prepublishOnly"], { cwd: folder });

test("the package is published only if it says where it comes from, and from the files of a release", {
  tags: ["gate"],
}, async () => {
  expect(await beforePublishing()).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/package\.json has no repository\. Set it once, and commit it: npm pkg set/),
  });
  const set = ["pkg", "set", "repository.type=git", "repository.url=git+https://github.example/owner/name.git"];
  expect(await run("npm", set, { cwd: folder })).toMatchObject({ exit: 0 });
  expect(await beforePublishing()).toMatchObject({ exit: 0 });

  const workflow = await readFile(".github/workflows/publish.yml", "utf8");
  const steps = [...workflow.matchAll(/- run: (.*)/g)].map(([, step]) => step);
  const order = ["node .ci/require-repository.ts", "npm run check", "npm run release -- --dry-run"];
  expect(steps.filter((step) => order.includes(step!))).toEqual(order);
  expect(steps).toContain("npm publish ./tidemark-*.tgz --provenance --access public");
  expect(steps).toContain("npm audit signatures");
});
