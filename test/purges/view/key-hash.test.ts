import { describe, expect, test } from "vitest";
import { hashKeys, hashWordFor } from "../../../worker/purges/view/key-hash.ts";

describe("the hash of a purge key", () => {
  test("is the one in the log's storage: another hash needs another storage format", () => {
    expect([...hashKeys(["*", "#a", "/plog/", "https://www.example.test/é?q=1"])]).toEqual(STORED);
  });

  test("200,000 similar keys have 200,000 hashes, and in each word of 32 bits no more collisions than chance", () => {
    const keys = Array.from({ length: 100_000 }, (_, index) => [`#song:${index}`, `/song/${index}/`]).flat();
    const words = hashKeys(keys);
    const pairs = new Set<bigint>();
    const [first, second] = [new Set<number>(), new Set<number>()];
    for (let at = 0; at < words.length; at += 2) {
      pairs.add((BigInt(words[at]!) << 32n) | BigInt(words[at + 1]!));
      first.add(words[at]!);
      second.add(words[at + 1]!);
    }
    expect(pairs.size).toBe(200_000);
    for (const word of [first, second]) expect(200_000 - word.size).toBeLessThan(15); // 4.7 to be expected
  });

  test("one changed letter changes each bit of the hash in about half of all cases", () => {
    const flips = new Array<number>(64).fill(0);
    for (let index = 0; index < 2000; index++) {
      const [a, b, c, d] = hashKeys([`#post:${index}:a`, `#post:${index}:b`]) as unknown as number[];
      for (let bit = 0; bit < 32; bit++) {
        flips[bit]! += ((a! ^ c!) >>> bit) & 1;
        flips[32 + bit]! += ((b! ^ d!) >>> bit) & 1;
      }
    }
    for (const count of flips) expect(Math.abs(count - 1000)).toBeLessThan(125); // 5.6 standard deviations
  });

  test.each([
    ["depends on the length where a key ends in zeros", "#a", "#a\0"],
    ["depends on the place of a letter", "#ab", "#ba"],
    ["depends on a letter beyond the first block of 16 bytes", "#0123456789abcdef", "#0123456789abcdeg"],
    ["depends on a letter outside ASCII", "#é", "#è"],
    ["depends on a letter behind one outside ASCII", "#éa", "#éb"],
    ["depends on the last letter of a key of 20,000 letters", `#${"a".repeat(20_000)}`, `#${"a".repeat(19_999)}b`],
    ["depends on letter case", "#a", "#A"],
  ])("%s", (_, left, right) => {
    expect(hashKeys([left])).not.toEqual(hashKeys([right]));
  });

  test("of a key differs between modes, and that of a hard purge is the key's own (R10)", () => {
    const [word] = hashKeys(["#a"]) as unknown as [number];
    const filed = (["hard", "soft", "invalidate"] as const).map((mode) => hashWordFor(mode, word));
    expect(filed[0]).toBe(word);
    expect(new Set(filed).size).toBe(3);
  });

  test("in a mode differs wherever the keys' own hashes differ", () => {
    const words = hashKeys(Array.from({ length: 50_000 }, (_, index) => `#${index}`));
    const distinct = new Set(words).size;
    expect(new Set(words.map((word) => hashWordFor("soft", word))).size).toBe(distinct);
  });
});

const STORED = [3227574421, 1987271052, 4040713029, 4163924668, 2839371902, 2307776271, 2377888067, 2667631524];
