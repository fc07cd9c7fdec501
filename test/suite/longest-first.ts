import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The slowest files, the slowest first. Those that keep a core busy come between those that mostly wait for browsers,
 * databases and other processes, so that the cores are always busy.
 */
const LONG: readonly string[] = [
  "test/mutants/mutants.test.ts",
  "test/dashboard/browser.test.ts",
  "test/scenarios/scenarios.test.ts",
  "test/packed/package.test.ts",
  "test/server/sites/serve-sites.test.ts",
  "test/packed/new-site.test.ts",
  "test/backends/next.test.ts",
  "test/server/postgres/shared-log.test.ts",
  "test/simulation/simulation.test.ts",
  "test/purges/log/log-contract.test.ts",
  "test/runtime/wrangler-dev.test.ts",
  "test/control/vendor-apis/clients.test.ts",
  "test/server/tiers/serve-with-parent.test.ts",
  "test/server/supervisor/supervisor.test.ts",
  "test/visitors/fuzz.test.ts",
  "test/server/serve/operation/upgrade.test.ts",
  "test/server/supervisor/kills.test.ts",
  "test/local/dev/dev.test.ts",
  "test/server/machines/upgrade-with-shared-log.test.ts",
  "test/cli/setup/check.test.ts",
  "test/cli/purge.test.ts",
];

/** Begins with the slowest files, so that at the end no worker waits for the last file of another one. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    const place = ({ moduleId }: TestSpecification) => {
      const index = LONG.findIndex((file) => moduleId.endsWith(file));
      return index === -1 ? LONG.length : index;
    };
    return others.toSorted((one, other) => place(one) - place(other));
  }
}
