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

test("the package is published by the workflow alone, which names the repository that it runs for", {
  tags: ["gate"],
}, async () => {
  expect(await beforePublishing()).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/package\.json has no repository\. Publish by a tag/),
  });

  const workflow = await readFile(".github/workflows/publish.yml", "utf8");
  const step = /- run: >-\n((?: {10}.*\n)+)/.exec(workflow)![1]!.replaceAll(/\s+/g, " ");
  expect(workflow.indexOf("npm pkg set")).toBeLessThan(workflow.indexOf("npm publish"));
  const env = { GITHUB_SERVER_URL: "https://github.example", GITHUB_REPOSITORY: "owner/name" };
  expect(await run("sh", ["-ec", step], { cwd: folder, env })).toMatchObject({ exit: 0 });

  expect(JSON.parse(await readFile(join(folder, "package.json"), "utf8"))).toMatchObject({
    repository: { type: "git", url: "git+https://github.example/owner/name.git" },
    homepage: "https://github.example/owner/name#readme",
    bugs: { url: "https://github.example/owner/name/issues" },
  });
  expect(await beforePublishing()).toMatchObject({ exit: 0 });
});
