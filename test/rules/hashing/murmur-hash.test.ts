import { describe, expect, test } from "vitest";
import { BLOCK_BYTES, murmurHash3 } from "../../../worker/rules/hashing/murmur-hash.ts";

describe("MurmurHash3_x86_128", () => {
  test.each([
    { text: "", seed: 0, expect: "00000000000000000000000000000000" },
    { text: "The quick brown fox jumps over the lazy dog", seed: 0, expect: "2f1583c3ecee2c675d7bf66ce5e91d2c" },
    {
      text: "I will not buy this tobacconist's, it is scratched.",
      seed: 0,
      expect: "9b5b7ba2ef3f7866889adeaf00f3f98e",
    },
  ])("of $text with the seed $seed is the published one", ({ text, seed, expect: published }) => {
    expect(hashOf(new TextEncoder().encode(text), seed)).toBe(published);
  });

  test("has the verification value of SMHasher: 256 keys of every length from 0 to 255, and the hash of their hashes", () => {
    const hashes = Array.from({ length: 256 }, (_, length) =>
      littleEndian(
        hashOf(
          Uint8Array.from({ length }, (_, byte) => byte),
          256 - length,
        ),
      ),
    );
    expect(hashOf(Uint8Array.from(hashes.flat()), 0).slice(0, 8)).toBe("b3ece62a");
  });
});

/** The four words of the hash, in hexadecimal digits. */
function hashOf(bytes: Uint8Array, seed: number): string {
  const padded = new Uint8Array((Math.floor(bytes.length / BLOCK_BYTES) + 1) * BLOCK_BYTES);
  padded.set(bytes);
  const hash = new Uint32Array(4);
  murmurHash3(new Uint32Array(padded.buffer), bytes.length, seed, hash);
  return Array.from(hash, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The bytes of a hash as SMHasher has them in memory: words with the lowest byte first. */
function littleEndian(hash: string): number[] {
  return hash.match(/.{8}/g)!.flatMap((word) =>
    word
      .match(/../g)!
      .reverse()
      .map((byte) => Number.parseInt(byte, 16)),
  );
}
