import { afterAll, describe, expect, test } from "vitest";
import { finderNamed } from "./finders.ts";
import { hunt } from "./hunt.ts";
import { hunted } from "./index.ts";
import { keepLikelySeeds, likelySeeds } from "./likely-seeds.ts";
import { allSources } from "./sources/mutated-sources.ts";

const found = new Map<string, number>();

describe("a wrong rule is found", { tags: ["gate"] }, () => {
  // Not by test.each, which cuts names off behind 40 characters, so that -t would not see the rest.
  for (const { name, mutant, by, inGate } of hunted) {
    test(name, { tags: inGate ? [] : ["deep"], timeout: 300_000 }, async () => {
      const seed = await hunt(mutant, finderNamed(by), likelySeeds[name]);
      expect(seed, `the mutant survived ${by}`).not.toBe("survived");
      found.set(name, seed as number);
    });
  }
});

test("those that only --all hunts can be made: the declaration of each has what it changes", {
  tags: ["gate"],
}, async () => {
  const sources = await allSources();
  for (const { name, mutant, inGate } of hunted) {
    if (!inGate) expect(() => sources.mutate(mutant), name).not.toThrow();
  }
});

afterAll(() => {
  const moved = [...found].filter(([name, seed]) => seed !== (likelySeeds[name] ?? 1));
  const kept = moved.length === 0 ? "" : `; ${moved.length} under another seed than before, ${keepLikelySeeds(moved)}`;
  process.stdout.write(`mutants found: ${found.size}${kept}\n`);
});
