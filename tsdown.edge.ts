import { defineConfig, type Rolldown } from "tsdown";
import { importSite } from "./server/site/import-site.ts";
import { checkSite } from "./worker/site/check-site.ts";

/**
 * The site of `tidemark.config.ts`, checked: a mistake in it ends the build, and the worker carries its settings instead
 * of everything that it takes to check them.
 */
const CHECKED_SITE: Rolldown.Plugin = {
  name: "checked-site",
  resolveId: (id) => (id === "virtual:checked-site" ? { id, external: false } : null),
  load: async (id) =>
    id === "virtual:checked-site"
      ? `export default ${JSON.stringify(checkSite(await importSite("tidemark.config.ts")))}`
      : null,
};

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
  plugins: [CHECKED_SITE],
  inputOptions: {
    optimization: { inlineConst: { mode: "all", pass: 3 } },
    resolve: { mainFields: ["module", "main"], conditionNames: ["workerd", "worker", "browser", "import"] },
  },
  deps: { alwaysBundle: [/./], neverBundle: [/^cloudflare:/], onlyBundle: false },
  minify: true,
  // The minifier leaves the marks of pure calls in, which have done their work by then.
  outputOptions: { comments: false },
  dts: false,
  report: false,
});
