import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { resolveInPackedProject } from "./test/packed/resolve.ts";
import { depth } from "./test/suite/depth.ts";
import { LongestFirst } from "./test/suite/longest-first.ts";
import { TimeByFolder } from "./test/suite/time-by-folder.ts";
import { NoneWhollyDeep } from "./test/suite/wholly-deep.ts";

/** The tests of what is published: their `tidemark` is the packed package, installed. */
const OF_THE_PACKAGE = [
  "test/packed/package.test.ts",
  "test/packed/new-site.test.ts",
  "test/packed/init-paths.test.ts",
  "test/packed/serve.test.ts",
  "test/packed/users-tools.test.ts",
  "test/snippets/testing-page.test.ts",
  "test/local/cdn/*.test.ts",
  "test/local/dev/regions.test.ts",
  "test/backends/*.test.ts",
];

/** The tests that start `tidemark serve` and other commands again and again, as they are built. */
const OF_THE_COMMAND = [
  "test/cli/*.test.ts",
  "test/conformance/public-suite.test.ts",
  "test/server/acme/pebble.test.ts",
  "test/server/cache-lock/generations.test.ts",
  "test/server/http2/hostile-clients.test.ts",
  "test/server/machines/*.test.ts",
  "test/server/tiers/serve-with-parent.test.ts",
  "test/server/serve/**/*.test.ts",
  "test/server/sites/serve-sites.test.ts",
  "test/snippets/shell.test.ts",
  "test/tools/import/import-command.test.ts",
];

/**
 * Run by the gate, and by `npm test` only if an argument names them or their folder: they build, pack and install the
 * package, or start browsers, databases, servers, commands and other programs, and take longer than all the others
 * together.
 */
const OF_THE_GATE = [
  ...OF_THE_PACKAGE,
  ...OF_THE_COMMAND,
  "test/control/vendor-apis/clients.test.ts",
  "test/dashboard/browser.test.ts",
  "test/demo/browser.test.ts",
  "test/demo/killed.test.ts",
  "test/local/dev/dev.test.ts",
  "test/local/dev/older-node.test.ts",
  "test/docs/commands.test.ts",
  "test/docs/tools/written-runs.test.ts",
  "test/runtime/deploy.test.ts",
  "test/runtime/push.test.ts",
  "test/runtime/wrangler-dev.test.ts",
  "test/runtime/*.test.ts",
  "test/sdk/outbox/pg.test.ts",
  "test/server/disk/crashes.test.ts",
  "test/server/log/kills.test.ts",
  "test/server/postgres/*.test.ts",
  "test/server/supervisor/kills.test.ts",
  "test/server/supervisor/supervisor.test.ts",
  "test/server/sites/isolation.test.ts",
  "test/cli/setup/check.test.ts",
  "test/tools/import/import.test.ts",
  "test/tools/import/nginx-comparison.test.ts",
  "test/tools/import/random/random.test.ts",
  "test/cli/setup/init.test.ts",
  "test/snippets/php.test.ts",
  "test/snippets/ruby.test.ts",
  "test/stories/stories.test.ts",
  "test/tools/audit/leaks.test.ts",
];

/** A command that names files or folders runs what the gate runs of them; one that names tests, whatever it names. */
const namesFiles = process.argv.slice(2).some((argument) => argument.startsWith("test/"));
const namesTests = process.argv.some((argument) => /^(-t|--testNamePattern)/.test(argument));
const leftOut = depth === "test" && !namesFiles ? OF_THE_GATE : [];
const tagsLeftOut = { test: namesFiles ? ["deep"] : ["gate", "deep"], gate: ["deep"], all: [], explore: [] }[depth];

/** `tagsFilter` is an option of the command alone, which wins. */
const byTags: Plugin = {
  name: "tests-by-depth",
  configureVitest({ project }) {
    if (!namesTests) project.config.tagsFilter ??= tagsLeftOut.map((tag) => `!${tag}`);
  },
};

export default defineConfig({
  plugins: [byTags],
  test: {
    testTimeout: 60_000, // for nothing but what hangs: a test that starts processes takes ten times as long on a busy machine
    hookTimeout: 60_000, // some start several processes, each of which may have to wait for the disk
    expect: { poll: { timeout: 20_000 } }, // the default, a second, is less than a slow machine may stand still
    // Half of what the gate runs waits for other processes, which leaves room for more than one a core.
    maxWorkers: depth === "test" ? 2 : 4,
    // Engines come and go by the thousand: with more room for what is young, the collector has a third less to do.
    // The second is for what lives long: modules take 100 MB, and the collector would look through them again and again.
    // The third is for a fault of V8 (nodejs/node#64500): a process with threads may crash when the glue of WebAssembly is
    // compiled a second time, after so many calls.
    execArgv: ["--max-semi-space-size=64", "--initial-heap-size=600", "--wasm-wrapper-tiering-budget=1000000000"],
    env: {
      // What tests start in processes of their own need not be compiled anew each time.
      NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/node-compile", import.meta.url)),
      // Only what goes out on the network needs the authorities that this machine trusts beside Node's own: each runtime
      // of a CDN would be given them all, which takes as long as the rest of its start.
      NODE_EXTRA_CA_CERTS: "",
      NETWORK_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? "",
    },
    tags: [
      { name: "gate", description: "too long for `npm test`, unless it names the file or folder" },
      { name: "deep", description: "too long for the gate: only with `npm run check -- --all`" },
    ],
    setupFiles: ["test/suite/cpu-time.ts", "test/suite/same-draws.ts", "test/suite/shared-modules.ts"],
    reporters: ["default", new TimeByFolder(), new NoneWhollyDeep()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "sources",
          include: ["test/**/*.test.ts"],
          exclude: [...OF_THE_PACKAGE, ...OF_THE_COMMAND, ...leftOut],
          // A process for many files: to start one and to load everything anew takes longer than most files do.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: "command",
          include: OF_THE_COMMAND,
          exclude: leftOut,
          isolate: false,
          globalSetup: "test/server/serve/build-command.ts",
        },
      },
      {
        extends: true,
        plugins: [resolveInPackedProject()],
        test: {
          name: "packed",
          include: OF_THE_PACKAGE,
          exclude: leftOut,
          isolate: false,
          globalSetup: "test/packed/setup.ts",
        },
      },
    ],
  },
});
