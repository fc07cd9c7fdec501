import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { allBlocks } from "./blocks.ts";
import { CLAIMS, isClaimed } from "./claims.ts";

const blocks = allBlocks();

test("every block of code in the pages is run by one test, or it is said why not", () => {
  expect(blocks.length).toBeGreaterThan(80);
  const unclear = blocks
    .map((block) => ({ block, claims: CLAIMS.filter((claim) => isClaimed(block, claim)) }))
    .filter(({ claims }) => claims.length !== 1)
    .map(({ block: { page, heading, language, code }, claims }) => [page, heading, language, claims.length, code]);
  expect(unclear).toEqual([]);
});

test("no claim is about a block that is no more", () => {
  const empty = CLAIMS.filter((claim) => !blocks.some((block) => isClaimed(block, claim)));
  expect(empty).toEqual([]);
});

test("the tests that run blocks name their pages or headings", () => {
  const strangers = CLAIMS.flatMap((claim) => {
    if (!("runIn" in claim)) return [];
    const source = readFileSync(claim.runIn, "utf8");
    // readme.test.ts reads all pages.
    if (claim.runIn === "test/docs/readme.test.ts") return [];
    return blocks
      .filter((block) => isClaimed(block, claim))
      .filter(({ page, heading }) => !source.includes(page) && !source.includes(`"${heading}"`))
      .map(({ page, heading }) => `${claim.runIn} does not name ${page}, ${heading}`);
  });
  expect(strangers).toEqual([]);
});
