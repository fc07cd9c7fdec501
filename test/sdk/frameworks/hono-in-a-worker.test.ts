import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { expect, test } from "vitest";

test("the middleware for Hono runs in a worker that has the flag nodejs_als", async () => {
  const { outputFiles } = await build({
    entryPoints: ["test/sdk/frameworks/hono-backend.ts"],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    external: ["node:async_hooks"],
  });
  const worker = new Miniflare({
    modules: true,
    script: outputFiles[0]!.text,
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["nodejs_als"],
  });
  try {
    const saved = await worker.dispatchFetch("http://localhost/", { method: "POST", body: "new" });
    expect(saved.status).toBe(204);
    expect(saved.headers.get("set-cookie")).toBe("tidemark-after=log.1; Path=/; Max-Age=7; HttpOnly; SameSite=Lax");
    const page = await worker.dispatchFetch("http://localhost/");
    expect(page.headers.get("cache-tag")).toBe("song:42");
    expect(await page.json()).toEqual([{ tags: ["song:42"] }]);
  } finally {
    await worker.dispose();
  }
});
