import { defineConfig, type Rolldown, type UserConfig } from "tsdown";
import { importSite } from "./server/site/import-site.ts";
import { checkSite } from "./worker/site/check-site.ts";

/**
 * The edge for the site in a config file, in one file. What esbuild makes of the same sources weighs 3 KB more. The site
 * is checked here, so that a mistake ends the build, and the worker carries its settings instead of their schema.
 */
export function edgeFor(siteFile: string): UserConfig {
  const checkedSite: Rolldown.Plugin = {
    name: "checked-site",
    resolveId: (id) => (id === "virtual:checked-site" ? id : null),
    load: async (id) =>
      id === "virtual:checked-site" ? `export default ${JSON.stringify(checkSite(await importSite(siteFile)))}` : null,
  };
  return {
    entry: { index: "worker/index.ts" },
    outDir: "dist/edge",
    outExtensions: () => ({ js: ".js" }),
    format: "esm",
    platform: "neutral",
    target: "es2024",
    plugins: [checkedSite],
    inputOptions: {
      optimization: { inlineConst: { mode: "all", pass: 3 } },
      resolve: { mainFields: ["module", "main"], conditionNames: ["workerd", "worker", "browser", "import"] },
    },
    // The minifier leaves the marks of pure calls in, which have done their work by then.
    outputOptions: { comments: false },
    deps: { alwaysBundle: [/./], neverBundle: [/^cloudflare:/], onlyBundle: false },
    minify: true,
    dts: false,
    report: false,
  };
}

/** The edge as `wrangler deploy` deploys it, which leaves it as it is. */
export default defineConfig(edgeFor("tidemark.config.ts"));
