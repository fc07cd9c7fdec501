import fc from "fast-check";
import { expect, test } from "vitest";
import { mutatedEngine } from "../../mutants/sources/mutated-sources.ts";
import { byDepth } from "../../suite/depth.ts";
import { seed } from "../../suite/seed.ts";
import { answersTo, crowd } from "./crowd.ts";

const CROWDS = byDepth({ test: 150, gate: 150, all: 1_000, explore: 10_000 });

test(`in ${CROWDS} crowds, each visitor gets what an honest origin has for him, whoever asks at the same time`, {
  timeout: 600_000,
}, async () => {
  const holds = fc.asyncProperty(crowd, async (each) => {
    const { got, due } = await answersTo(each);
    expect(got).toEqual(due);
  });
  await fc.assert(holds, { seed, numRuns: CROWDS });
});

test("control: some do not if followers get what was fetched without their fields", { tags: ["gate"] }, async () => {
  const { startMemoryEngine } = await mutatedEngine({
    in: "follow",
    replace: "context.reduced?.asSent ?? context",
    by: "context",
  });
  const holds = fc.asyncProperty(crowd, async (each) => {
    const { got, due } = await answersTo(each, startMemoryEngine);
    return got.every((body, at) => body === due[at]);
  });
  const { failed, numRuns } = await fc.check(holds, { seed, numRuns: CROWDS, endOnFailure: true });
  expect({ failed, numRuns }).toMatchObject({ failed: true });
});
