import { defineConfig } from "vitest/config";
import { resolveInPackedProject } from "./test/packed/resolve.ts";

/** The tests of what is published: their `tidemark` is the packed package, installed. */
const OF_THE_PACKAGE = [
  "test/packed/package.test.ts",
  "test/packed/new-site.test.ts",
  "test/docs/testing-page.test.ts",
  "test/cdn/*.test.ts",
  "test/dev/regions.test.ts",
];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: "sources", include: ["test/**/*.test.ts"], exclude: OF_THE_PACKAGE } },
      {
        extends: true,
        plugins: [resolveInPackedProject()],
        test: { name: "packed", include: OF_THE_PACKAGE, globalSetup: "test/packed/setup.ts" },
      },
    ],
  },
});
