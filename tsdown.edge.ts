import { resolve } from "node:path";
import { defineConfig } from "tsdown";

/**
 * The edge as it is deployed, in one file. `wrangler deploy` makes it by this and leaves it as it is: what esbuild makes of
 * the same sources weighs 2 KB more.
 */
export default defineConfig({
  entry: { index: "worker/index.ts" },
  outDir: "dist/edge",
  outExtensions: () => ({ js: ".js" }),
  format: "esm",
  platform: "neutral",
  target: "es2024",
  alias: { "tidemark/worker": resolve("worker/package.ts") },
  inputOptions: {
    resolve: { mainFields: ["module", "main"], conditionNames: ["workerd", "worker", "browser", "import"] },
  },
  deps: { alwaysBundle: [/./], neverBundle: [/^cloudflare:/], onlyBundle: false },
  minify: true,
  // The minifier leaves the marks of pure calls in, which have done their work by then.
  outputOptions: { comments: false },
  dts: false,
  report: false,
});
