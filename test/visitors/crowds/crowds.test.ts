import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../mutants/mutant.ts";
import { mutatedEngine } from "../../mutants/sources/mutated-sources.ts";
import { byDepth } from "../../suite/depth.ts";
import { isUsual, seed } from "../../suite/seed.ts";
import { answersTo, crowd } from "./crowd.ts";

const CROWDS = byDepth({ test: 50, gate: 50, all: 1_000, explore: 10_000 });
/** The first crowds from here on find both edges of the gate's controls. */
const FROM = isUsual ? 14 : seed;

test(`in ${CROWDS} crowds, each visitor gets what an honest origin has for him, whoever asks at the same time`, {
  timeout: 600_000,
}, async () => {
  const holds = fc.asyncProperty(crowd, async (each) => {
    const { got, due } = await answersTo(each);
    expect(got).toEqual(due);
  });
  await fc.assert(holds, { seed: FROM, numRuns: CROWDS });
});

test.each([
  [
    "parts are asked for with all that the client sent",
    { in: "fetchOnce", replace: "storing: true", by: "storing: !asks" },
  ],
  [
    "the name of a choice of earlier settings is taken for a field",
    { in: "OriginView.field", drop: 'if (name.includes(":")) return null;' },
  ],
])("control: some do not if %s", { tags: ["gate"] }, (_, change) => expectFound(change));

// It takes ten seconds to come upon such a crowd.
test("control: some do not if followers get what was fetched without their fields", { tags: ["deep"] }, () =>
  expectFound({ in: "follow", replace: "context.reduced?.asSent ?? context", by: "context" }),
);

async function expectFound(change: Change): Promise<void> {
  const { startMemoryEngine } = await mutatedEngine(change);
  const holds = fc.asyncProperty(crowd, async (each) => {
    const { got, due } = await answersTo(each, startMemoryEngine);
    return got.every((body, at) => body === due[at]);
  });
  const { failed, numRuns } = await fc.check(holds, { seed: FROM, numRuns: 4 * CROWDS, endOnFailure: true });
  expect({ failed, numRuns }).toMatchObject({ failed: true });
}
