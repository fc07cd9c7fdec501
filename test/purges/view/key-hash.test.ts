import { describe, expect, test } from "vitest";
import { hashKeys, inMode } from "../../../worker/purges/view/key-hash.ts";

describe("the hash of a purge key", () => {
  test("is what the log has stored: another hash needs another form of the log", () => {
    expect([...hashKeys(["*", "#a", "/plog/", "https://www.example.test/é?q=1"])]).toEqual(STORED);
  });

  test("two hundred thousand keys that look alike have as many hashes, in each word of 32 bits about as many as chance", () => {
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
    ["the length counts where the letters end in zeros", "#a", "#a\0"],
    ["the place of a letter counts", "#ab", "#ba"],
    ["what lies beyond four letters counts", "#abcde", "#abcdf"],
    ["letter case counts", "#a", "#A"],
  ])("%s", (_, left, right) => {
    expect(hashKeys([left])).not.toEqual(hashKeys([right]));
  });

  test("each mode files a key under another hash, and hard under the key's own (R10)", () => {
    const [word] = hashKeys(["#a"]) as unknown as [number];
    const filed = (["hard", "soft", "invalidate"] as const).map((mode) => inMode(word, mode));
    expect(filed[0]).toBe(word);
    expect(new Set(filed).size).toBe(3);
  });

  test("in a mode, keys that differ stay different", () => {
    const words = hashKeys(Array.from({ length: 50_000 }, (_, index) => `#${index}`));
    const distinct = new Set(words).size;
    expect(new Set(words.map((word) => inMode(word, "soft"))).size).toBe(distinct);
  });
});

const STORED = [3184033330, 3956910378, 1291624063, 2020043671, 3624932324, 1004751300, 2830102769, 979793453];
