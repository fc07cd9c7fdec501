import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The slowest files, the slowest first. */
const LONG: readonly string[] = [
  "test/mutants/mutants.test.ts",
  "test/scenarios/scenarios.test.ts",
  "test/simulation/simulation.test.ts",
  "test/cdn/scenarios.test.ts",
  "test/dev/dev.test.ts",
  "test/dev/regions.test.ts",
  "test/stories/stories.test.ts",
  "test/cdn/chaos.test.ts",
  "test/visitors/fuzz.test.ts",
  "test/server/processes/kills.test.ts",
  "test/server/processes/supervisor.test.ts",
  "test/packed/package.test.ts",
];

/** Begins with the slowest files, so that at the end no worker waits for another one's last file. */
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
