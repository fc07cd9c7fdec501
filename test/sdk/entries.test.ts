import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import * as node from "../../sdk/index.ts";
import * as web from "../../sdk/index.web.ts";
import * as testing from "../../sdk/testing.ts";
import { runNode } from "./run-node.ts";
import { SDK_NAMES } from "./sdk-names.ts";

test("Both entries export these names", () => {
  expect(Object.keys(node).sort()).toEqual(SDK_NAMES);
  expect(Object.keys(web).sort()).toEqual(SDK_NAMES);
});

test("The entry for tests exports the recording purger and the search for missing tags", () => {
  expect(Object.keys(testing).sort()).toEqual(["createRecordingPurger", "findUntagged"]);
});

test("No entry needs a TextEncoder before it is used, because Jest has none in jsdom", async () => {
  const here = (entry: string) => JSON.stringify(new URL(`../../sdk/${entry}.ts`, import.meta.url));
  const frameworks = ["express", "fastify", "hono", "next", "respond"].map((name) => `frameworks/${name}`);
  const { stdout } = await runNode(`
    delete globalThis.TextEncoder;
    const { createRecordingPurger } = await import(${here("testing")});
    const purger = createRecordingPurger();
    await purger.purgeTags("a");
    const entries = await Promise.all([${frameworks.map(here)}].map((entry) => import(entry)));
    console.log(purger.calls[0].tags[0], entries.filter(({ editorCookie }) => editorCookie).length);
  `);
  expect(stdout).toBe("a 5\n");
});

/** The packages that an entry imports, and the modules of Node. */
async function packagesOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL(`../../sdk/${entry}`, import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    platform: "neutral",
    packages: "external",
    external: ["node:*"],
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  return [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))].sort();
}

test.for([
  { entry: "index.ts", packages: ["leven", "undici", "zod/mini"] },
  { entry: "index.web.ts", packages: ["leven", "zod/mini"] },
  { entry: "testing.ts", packages: ["leven", "zod/mini"] },
])("sdk/$entry imports the packages $packages and no module of Node", async ({ entry, packages }) => {
  await expect(packagesOf(entry)).resolves.toEqual(packages);
});

test.for([
  { entry: "frameworks/express.ts", packages: ["leven", "node:async_hooks", "zod/mini"] },
  { entry: "frameworks/fastify.ts", packages: ["leven", "node:async_hooks", "node:diagnostics_channel", "zod/mini"] },
  { entry: "frameworks/hono.ts", packages: ["leven", "node:async_hooks", "zod/mini"] },
  { entry: "frameworks/respond.ts", packages: ["leven", "node:async_hooks", "zod/mini"] },
  { entry: "frameworks/next.ts", packages: ["leven", "zod/mini"] },
])("sdk/$entry imports no framework, but $packages", async ({ entry, packages }) => {
  await expect(packagesOf(entry)).resolves.toEqual(packages);
});

test("The purge client adds at most 70 KB to a worker, minified", async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../../sdk/index.web.ts", import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2024",
  });

  const bytes = outputFiles[0]?.contents.byteLength;
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(70_000);
});
