import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test, vi } from "vitest";
import * as node from "../../sdk/index.ts";
import * as web from "../../sdk/index.web.ts";
import * as testing from "../../sdk/testing.ts";
import { SDK_NAMES } from "./sdk-names.ts";

test("Both entries export these names", () => {
  expect(Object.keys(node).sort()).toEqual(SDK_NAMES);
  expect(Object.keys(web).sort()).toEqual(SDK_NAMES);
});

test("The entry for tests exports the recording purger and the search for missing tags", () => {
  expect(Object.keys(testing).sort()).toEqual(["createRecordingPurger", "findUntagged"]);
});

test("No entry needs a TextEncoder before it is used, because Jest has none in jsdom", async () => {
  vi.stubGlobal("TextEncoder", undefined);
  vi.resetModules();
  const { createRecordingPurger } = await import("../../sdk/testing.ts");
  const purger = createRecordingPurger();
  await purger.purgeTags("a");
  expect(purger.calls).toMatchObject([{ tags: ["a"] }]);
  for (const framework of ["express", "fastify", "hono", "next", "respond"]) {
    expect(Object.keys(await import(`../../sdk/frameworks/${framework}.ts`))).toContain("editorCookie");
  }
  vi.unstubAllGlobals();
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
