import { afterAll, describe, expect, test } from "vitest";
import { finderNamed } from "./finders.ts";
import { hunt } from "./hunt.ts";
import { hunted } from "./index.ts";
import { keepLikelySeeds, likelySeeds } from "./likely-seeds.ts";

const found = new Map<string, number>();

describe("a wrong rule is found", { tags: ["gate"] }, () => {
  // Not by test.each, which cuts names off behind 40 characters, so that -t would not see the rest.
  for (const { name, mutant, by } of hunted) {
    test(name, { timeout: 300_000 }, async () => {
      const seed = await hunt(mutant, finderNamed(by), likelySeeds[name]);
      expect(seed, `the mutant survived ${by}`).not.toBe("survived");
      found.set(name, seed as number);
    });
  }
});

afterAll(() => {
  const moved = [...found].filter(([name, seed]) => seed !== (likelySeeds[name] ?? 1));
  const kept = moved.length === 0 ? "" : `; ${moved.length} under another seed than before, ${keepLikelySeeds(moved)}`;
  process.stdout.write(`mutants found: ${found.size}${kept}\n`);
});
