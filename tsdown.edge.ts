import { resolve } from "node:path";
import { defineConfig, type Rolldown, type UserConfig } from "tsdown";
import { importSite } from "./server/program/import-site.ts";
import { type CheckedSite, checkSite } from "./worker/site/check-site.ts";
import { refuseServerSettings } from "./worker/site/refuse-server-settings.ts";
import { compileChecked } from "./worker/site/site.ts";
import type { SiteInput } from "./worker/site/site-input.ts";

/**
 * The edge for the site in a config file, or that a function gives. What esbuild makes of the same sources weighs 3 KB more.
 * The site is checked here, so that a mistake ends the build, and the worker carries its settings instead of their schema.
 */
export function edgeFor(site: string | (() => Promise<SiteInput>)): UserConfig {
  return {
    entry: { index: "worker/index.ts" },
    outDir: "dist/edge",
    outExtensions: () => ({ js: ".js" }),
    format: "esm",
    platform: "neutral",
    target: "es2024",
    plugins: [forSite(typeof site === "string" ? async () => (await importSite(site)).site : site)],
    inputOptions: {
      // A read whose value nobody uses can go: a getter here at most remembers what it has computed.
      treeshake: { propertyReadSideEffects: false },
      optimization: { inlineConst: { mode: "all", pass: 3 } },
      resolve: { mainFields: ["module", "main"], conditionNames: ["workerd", "worker", "browser", "import"] },
    },
    // The minifier leaves the marks of pure calls in, which have done their work by then.
    outputOptions: { comments: false, chunkFileNames: "[name].js", codeSplitting: { groups: [PAGES] } },
    deps: { alwaysBundle: [/./], neverBundle: [/^cloudflare:/], onlyBundle: false },
    minify: true,
    dts: false,
    report: false,
  };
}

/** What answers pages, the purge log included. The control plane, which shares much of it, is another module. */
const PAGES: Rolldown.CodeSplittingGroup = { name: "pages", tags: ["$initial"] };

/** Puts the checked site in, and leaves out what it does not use: a dashboard that is off, and closed doors. */
function forSite(read: () => Promise<SiteInput>): Rolldown.Plugin {
  let checking: Promise<CheckedSite> | undefined;
  const site = () => {
    checking ??= read().then((given) => {
      refuseServerSettings(given);
      const checked = checkSite(given);
      compileChecked(checked, {}); // for the mistakes that only the whole of the rules shows
      return checked;
    });
    return checking;
  };
  const parts: Readonly<Record<string, (site: CheckedSite) => string | null>> = {
    "virtual:checked-site": (checked) => `export default ${JSON.stringify(checked)};`,
    [resolve(import.meta.dirname, "worker/control/dashboard/dashboard-page.ts")]: ({ rules }) =>
      rules.dashboard ? null : 'export const PAGE = "", PAGE_POLICY = "";',
    [resolve(import.meta.dirname, "worker/control/vendor-apis/doors.ts")]: (checked) =>
      openDoors(checked).length > 0 ? null : "export const answerAtDoor = async () => null;",
    [resolve(import.meta.dirname, "worker/control/vendor-apis/vendors.ts")]: (checked) => {
      const open = openDoors(checked);
      return [
        ...open.map((name) => `import { ${name} } from "./${name}.ts";`),
        `export const VENDORS = { ${open} };`,
      ].join("\n");
    },
  };
  return {
    name: "for-site",
    resolveId: (id) => (id.startsWith("virtual:") ? id : null),
    load: async (id) => (Object.hasOwn(parts, id) ? parts[id]!(await site()) : null),
  };
}

function openDoors({ rules }: CheckedSite): string[] {
  return Object.entries(rules.doors).flatMap(([name, door]) => (door ? [name] : []));
}

/** The edge as `wrangler deploy` deploys it, which leaves it as it is. */
export default defineConfig(edgeFor("tidemark.config.ts"));
