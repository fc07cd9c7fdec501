import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { ownPackage } from "../../package/own-package.ts";
import { fetchedFromNpm, type Project } from "../backends/npm-packages.ts";
import { byDepth } from "../suite/depth.ts";
import { folderWith, run } from "./installed-package.ts";
import { type Step, takeUp } from "./users-project.ts";

/**
 * What a user may have: three of each, so that each pair stands in one of nine projects. The five that `--all` takes have
 * each of them, and the app of a worker with each wrangler.
 */
const WRANGLERS = ["4.90.0", "4.116.0", "4.164.0"] as const;
const VITESTS = ["3.2.4", "4.1.12", "5.1.0"] as const;
const NODES = ["22.19.0", "24.21.0", "26.9.0"] as const;
const MANAGERS = ["npm", "pnpm", "yarn"] as const;
/** For yarn, as each vitest runs on it: yarn fails where a registry lacks a part for Windows that vite 8.4 may do without. */
const VITE = "7.3.8";
const ENOUGH: readonly (readonly [number, number])[] = [
  [0, 0],
  [1, 1],
  [2, 2],
  [0, 1],
  [2, 1],
];
const PAIRS = [0, 1, 2].flatMap((one) => [0, 1, 2].map((other) => [one, other] as const));
const PROJECTS = byDepth({ test: ENOUGH, gate: ENOUGH, all: ENOUGH, explore: PAIRS }).map(([one, other]) => ({
  wrangler: WRANGLERS[one]!,
  vitest: VITESTS[other]!,
  node: NODES[(one + other) % 3]!,
  manager: MANAGERS[(one + 2 * other) % 3]!,
  isWorker: one === other, // once with each wrangler, which then has to start the app
}));

const ENVIRONMENT = { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false", CI: "1" };
const TIMEOUT_MS = 300_000;
/** Words of yarn where a registry lacks a package for another platform, which yarn looks for as well. */
const NOT_ALL_PLATFORMS = "Couldn't find any versions for";

const installed = inject("installed");
const { home } = installed;

/** Packages with programs, and where those are. */
async function binaries(...packages: readonly string[]): Promise<string> {
  const project: Project = await fetchedFromNpm(packages);
  if ("missing" in project) throw new Error(project.missing);
  return join(project.folder, "node_modules/.bin");
}

describe("beside a miniflare that a later wrangler has brought", () => {
  const checkUnder = async (environment: Readonly<Record<string, string>>) => {
    const folder = await folderWith(installed, `later-${Object.keys(environment)}`, ["esbuild", "wrangler"]);
    await mkdir(join(folder, "node_modules/miniflare"));
    const manifest = { name: "miniflare", version: "5.20261117.0-beta", main: "index.js" };
    await writeFile(join(folder, "node_modules/miniflare/package.json"), JSON.stringify(manifest));
    const command = join(folder, "node_modules/.bin/tidemark");
    return run(process.execPath, [command, "check"], { cwd: folder, env: environment });
  };
  const { miniflare } = ownPackage.devDependencies;

  test("check says how to install the other one", async () => {
    const { exit, stdout, stderr } = await checkUnder({});
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toMatch(/ miniflare 4\.\d+\.\d+ or a later 4, but here is 5\.20261117\.0-beta, .*beside it/);
    expect(stderr).toContain(`\n\n  npm install --save-dev miniflare@${miniflare}\n`);
  });

  test("check as wrangler's build command says the same, and does not stop the deployment", {
    tags: ["deep"],
  }, async () => {
    const { exit, stderr } = await checkUnder({ WRANGLER_COMMAND: "deploy" });
    expect({ exit, stderr }).toEqual({
      exit: 0,
      stderr: expect.stringContaining("Until then wrangler works without it"),
    });
  });
});

test("Bun's tests record purges, and are told that a CDN needs Node", {
  tags: ["deep"],
  timeout: TIMEOUT_MS,
}, async () => {
  const bun = await fetchedFromNpm(["bun@1.4.5"]);
  if ("missing" in bun) throw new Error(bun.missing);
  const folder = await folderWith(installed, "bun", ["miniflare", "esbuild"]);
  await writeFile(
    join(folder, "app.test.ts"),
    `import { expect, test } from "bun:test";
     import { startCdn } from "tidemark/local";
     import { createRecordingPurger } from "tidemark/testing";

     test("a purge is recorded", async () => {
       const purger = createRecordingPurger();
       await purger.purgeTags("song:1");
       expect(purger.calls.length).toBe(1);
     });

     test("a CDN is refused", async () => {
       await expect(startCdn({ site: {} })).rejects.toThrow("a CDN needs Node: run these tests in Node");
     });`,
  );
  const { exit, stderr } = await run(join(bun.folder, "node_modules/.bin/bun"), ["test"], { cwd: folder });
  expect(stderr).toMatch(/2 pass\n\s*0 fail/);
  expect(exit).toBe(0);
});

test("Deno's tests ask a simulated CDN", { tags: ["deep"], timeout: TIMEOUT_MS }, async () => {
  const deno = await fetchedFromNpm(["deno@2.9.6"]);
  if ("missing" in deno) throw new Error(deno.missing);
  const folder = await folderWith(installed, "deno", ["miniflare", "esbuild"]);
  await writeFile(
    join(folder, "app_test.ts"),
    `import { assertHit, assertMiss, startCdn } from "tidemark/local";

     Deno.test("a page is stored until it is purged", async () => {
       const reply = { fields: { "cache-control": "max-age=60" }, body: "v1" };
       const cdn = await startCdn({ site: {}, origin: { "/about": reply } });
       await assertMiss(cdn.get("/about"));
       await assertHit(cdn.get("/about"));
       await cdn.settle(await cdn.purger.purgeUrls("/about"));
       await assertMiss(cdn.get("/about"));
       await cdn.close();
     });`,
  );
  const args = ["test", "--allow-all", "--node-modules-dir=manual", "--no-check"];
  const { exit, stdout, stderr } = await run(join(deno.folder, "node_modules/.bin/deno"), args, { cwd: folder });
  expect(`${stdout}${stderr}`).toContain("1 passed");
  expect(exit).toBe(0);
});

describe("Jest without flags", { tags: ["deep"] }, () => {
  test("tests an app in CommonJS behind the simulated CDN, and is told what it cannot read", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const jest = await fetchedFromNpm(["jest@30.5.2", "jest-environment-jsdom@30.5.2"]);
    if ("missing" in jest) throw new Error(jest.missing);
    const folder = await folderWith(installed, "jest", ["miniflare", "esbuild", "express"]);
    await writeFile(join(folder, "package.json"), JSON.stringify({ name: "app", private: true }));
    await writeFile(join(folder, "tidemark.config.ts"), `export default { origin: "http://127.0.0.1:1" };\n`);
    await writeFile(
      join(folder, "app.test.js"),
      `const { startCdn } = require("tidemark/local");
       require("tidemark/local/matchers");
       const { tag, tidemark } = require("tidemark/express");
       const express = require("express");

       test("a page is stored until its tag is purged", async () => {
         const app = express();
         app.use(tidemark());
         app.get("/song", (_, response) => {
           tag("song:1");
           response.set("cache-control", "s-maxage=60").send("a song");
         });
         const server = app.listen(0);
         const cdn = await startCdn({ site: {}, origin: \`http://127.0.0.1:\${server.address().port}\` });
         try {
           await expect(cdn.get("/song")).toMiss();
           await expect(cdn.get("/song")).toHit();
           await cdn.settle(await cdn.purger.purgeTags("song:1"));
           await expect(cdn.get("/song")).toMiss();
         } finally {
           jest.useFakeTimers();
           await cdn.close();
           jest.useRealTimers();
           server.close();
         }
       }, 60_000);

       test.each(["fastify", "hono", "next", "respond"])("tidemark/%s can be required", (name) => {
         expect(Object.keys(require("tidemark/" + name))).toContain("editorCookie");
       });

       test("a config is refused in words", async () => {
         await expect(startCdn({ config: "tidemark.config.ts" })).rejects.toThrow(/Jest reads no config unless .* startCdn/);
       });`,
    );
    await writeFile(
      join(folder, "component.test.js"),
      `/** @jest-environment ${join(jest.folder, "node_modules/jest-environment-jsdom/build/index.js")} */
       const { createRecordingPurger } = require("tidemark/testing");

       test.each(["", "/express", "/hono", "/next", "/respond"])("tidemark%s can be required in jsdom", (name) => {
         expect(Object.keys(require("tidemark" + name))).not.toEqual([]);
       });

       test("a recording purger records in jsdom", async () => {
         const purger = createRecordingPurger();
         await purger.purgeTags("a");
         expect(purger.calls).toMatchObject([{ tags: ["a"] }]);
       });`,
    );
    const jestProgram = join(jest.folder, "node_modules/jest/bin/jest.js");
    const { exit, stderr } = await run(process.execPath, [jestProgram, "--rootDir", folder], { cwd: folder });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringMatching(/Tests: +12 passed/) });
  });
});

describe("tidemark init in a project that has its own tools", { tags: ["deep"] }, () => {
  test.for(PROJECTS)(
    "wrangler $wrangler, vitest $vitest, Node $node, $manager",
    { timeout: TIMEOUT_MS },
    async ({ wrangler, vitest, node, manager, isWorker }, { skip }) => {
      const path = [
        await binaries(`node@${node}`),
        await binaries("pnpm@12.21.0", "yarn@1.22.22"),
        process.env.PATH,
      ].join(delimiter);
      const step: Step = async (folder, command, ...args) => {
        const ended = await run(command, args, { cwd: folder, env: { ...ENVIRONMENT, PATH: path } });
        if (ended.stderr.includes(NOT_ALL_PLATFORMS))
          skip(`yarn: ${NOT_ALL_PLATFORMS} some of what it installs elsewhere`);
        expect(ended.exit, `${command} ${args.join(" ")}: ${ended.stdout}${ended.stderr}`).toBe(0);
        return ended;
      };

      expect((await step(home, "node", "--version")).stdout.trim()).toBe(`v${node}`);
      const vite = manager === "yarn" ? { vite: VITE } : {}; // yarn installs no peers
      const devDependencies = { wrangler, vitest, ...vite };
      const name = `tools-${wrangler}-${vitest}`;
      const project = { name, manager, devDependencies, resolutions: vite, isWorker };
      const { tests, deploy } = await takeUp(installed, project, step);
      expect(tests).toMatch(new RegExp(`v${vitest}.*Tests +${isWorker ? 2 : 1} passed`, "s"));
      expect(deploy).toMatch(/wrangler\.(edge\.)?toml can be deployed/);
      expect(deploy).toContain("--dry-run: exiting now");
    },
  );
});
