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
  "test/server/log/postgres/shared-log.test.ts",
  "test/simulation/simulation.test.ts",
  "test/purges/log/log-contract.test.ts",
  "test/platform/wrangler-dev.test.ts",
  "test/control/doors/clients.test.ts",
  "test/server/parent/serve-with-parent.test.ts",
  "test/server/processes/supervisor.test.ts",
  "test/visitors/fuzz.test.ts",
  "test/server/serve/upgrade.test.ts",
  "test/server/processes/kills.test.ts",
  "test/dev/dev.test.ts",
  "test/server/machines/upgrade-with-shared-log.test.ts",
  "test/setup/check.test.ts",
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
