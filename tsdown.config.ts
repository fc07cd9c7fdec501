import { dirname } from "node:path";
import { defineConfig, type UserConfig } from "tsdown";

/** A file of its own, which is imported before undici. */
const NODE_VERSION = { "node-version": "sdk/node-version.ts" };

const SDK = { index: "sdk/index.ts", "index.web": "sdk/index.web.ts", testing: "sdk/testing.ts" };

/** Outboxes for the purges of the SDK. The backend brings its own database client. */
const OUTBOX = { "outbox-sqlite": "sdk/outbox/sqlite.ts", "outbox-pg": "sdk/outbox/pg.ts" };

/** Middleware for frameworks, each an entry of its own that imports nothing of the framework. */
const FRAMEWORKS = Object.fromEntries(
  ["express", "fastify", "hono", "next", "respond"].map((name) => [name, `sdk/frameworks/${name}.ts`]),
);

/** For an app on OpenNext: its worker, and its config, which Node runs. */
const OPENNEXT = { opennext: "sdk/opennext/index.worker.ts", "opennext-config": "sdk/opennext/config.ts" };

/** The simulated CDN. Its matchers are those of vitest where they are imported, and those of Jest where they are required. */
const LOCAL = { local: "local/index.ts", "local-matchers": "local/matchers/vitest.ts" };

/** What apps in CommonJS require beside the SDK: under Jest an ES module cannot be required. */
const REQUIRED = { ...FRAMEWORKS, local: LOCAL.local, "local-matchers": "local/matchers/jest.ts" };

/** What `tidemark serve` starts in processes and threads of their own. */
const SERVER = {
  "edge-program": "server/program/edge-program.ts",
  "file-writer-thread": "server/disk/file-writer-thread.ts",
  "site-thread": "server/program/site-thread.ts",
  "worker-main": "server/supervisor/worker-main.ts",
};

/** The published package. A folder of its own in dist, so that nothing else that is built there gets packed. */
const shared = {
  outDir: "dist/package",
  platform: "node",
  failOnWarn: true,
  // Of the generator below. What it makes is looked at by the test of the package.
  suppressWarnings: "TypeScript 7.0 does not yet have a stable API",
  report: false,
} as const satisfies UserConfig;

/** The types name `AsyncDisposable`, which an owner's `lib` need not have; TypeScript knows it from 5.2 on. */
const TYPES = { banner: { dts: '/// <reference lib="esnext.disposable" />' } } as const satisfies UserConfig;

/** One build, so that a PurgeError of `tidemark/testing` or `tidemark/local` is the class that `tidemark` exports. */
export const COMMAND: UserConfig = {
  ...shared,
  ...TYPES,
  entry: { ...NODE_VERSION, ...SDK, ...OUTBOX, ...FRAMEWORKS, ...LOCAL, ...SERVER, cli: "cli/main.ts" },
  format: "esm",
  deps: { onlyBundle: ["commander", "leven", "robots-parser", "structured-headers", "yaml"] },
  dts: { generator: "oxc", entry: Object.values({ ...SDK, ...OUTBOX, ...FRAMEWORKS, ...LOCAL }) },
  // What is bundled, here and below, comes with its licence.
  copy: ({ outDir }) =>
    [
      "commander/LICENSE",
      "leven/license",
      "robots-parser/LICENSE.md",
      "structured-headers/LICENSE",
      "yaml/LICENSE",
    ].map((file) => ({
      from: `node_modules/${file}`,
      to: `${outDir}/licenses`,
      rename: `${dirname(file)}.txt`,
    })),
};

export default defineConfig([
  { ...COMMAND, name: "sdk, cli and simulated cdn" },
  {
    ...shared,
    ...TYPES,
    name: "sdk and simulated cdn for require",
    entry: { ...NODE_VERSION, ...SDK, ...OUTBOX, ...REQUIRED },
    format: "cjs",
    deps: { onlyBundle: ["leven"] },
    // Backends that are CommonJS are many, and the SDK is for backends.
    checks: { legacyCjs: false },
    dts: { generator: "oxc", entry: Object.values({ ...SDK, ...OUTBOX, ...REQUIRED }) },
  },
  {
    ...shared,
    name: "worker",
    entry: { worker: "worker/package.ts", "worker-internal": "worker/internal.ts", ...OPENNEXT },
    format: "esm",
    target: "es2024",
    deps: {
      // zod stays outside: it is a dependency of the package anyway, so that an owner's bundle holds one copy of it,
      // and its fixes come without ours.
      onlyBundle: ["leven"],
      neverBundle: [/^cloudflare:/],
    },
    // By the type checker, because what an owner may write in a site is inferred from a zod schema.
    dts: {
      generator: "tsgo",
      tsconfig: "tsconfig.package.json",
      entry: ["worker/package.ts", ...Object.values(OPENNEXT)],
    },
  },
  {
    ...shared,
    name: "workers of the simulated cdn",
    // What startCdn bundles, around the package's worker or an owner's. Nobody imports them: no types, no exports.
    entry: {
      "simulation.worker": "local/runtime/simulation.worker.ts",
      "virtual-time.worker": "local/runtime/virtual-time.worker.ts",
      "dev-edge.worker": "local/dev/dev-edge.worker.ts",
    },
    format: "esm",
    target: "es2024",
    deps: { neverBundle: [/^cloudflare:/, /^tidemark\/worker(\/internal)?$/] },
    dts: false,
  },
]);
