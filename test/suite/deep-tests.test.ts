import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createVitest, type Vitest } from "vitest/node";

/** Each of its tests needs a site that takes Next half a minute to build. `opennext.test.ts` has the gate's share. */
const WHOLLY_DEEP = "test/backends/next.test.ts";

const DEEP = globSync("test/**/*.test.ts")
  .filter((file) => readFileSync(file, "utf8").includes('tags: ["deep"]'))
  .filter((file) => file !== WHOLLY_DEEP);

describe("a file with tests that are tagged as deep", () => {
  let vitest: Vitest;
  beforeAll(async () => {
    vitest = await createVitest("test", { watch: false });
  });
  afterAll(() => vitest.close());

  test.each(DEEP)("leaves others to the gate: %s", async (file) => {
    const specification = vitest.getRootProject().createSpecification(resolve(file));
    const parsed = await vitest.experimental_parseSpecification(specification);
    const ofTheGate = [...parsed.children.allTests()].filter(({ tags }) => !tags.includes("deep"));
    expect(ofTheGate.map(({ name }) => name)).not.toEqual([]);
  });
});
