const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

/** A block has 16 bytes, which are four words. */
export const BLOCK_BYTES = 16;

/**
 * MurmurHash3_x86_128 as published by Austin Appleby (github.com/aappleby/smhasher), checked against the verification
 * value that is published with it. Writes the four words of the hash into `hash`.
 *
 * `input` holds the bytes as little-endian words, followed by zeros up to the end of the block after the last complete
 * one. A word of zeros does not change the hash, so the remainder needs no special case.
 */
export function murmurHash3(input: Uint32Array, byteLength: number, seed: number, hash: Uint32Array): void {
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  const rest = (byteLength >>> 4) * 4;
  for (let at = 0; at < rest; at += 4) {
    h1 ^= Math.imul(rotateLeft(Math.imul(input[at]!, C1), 15), C2);
    h1 = (Math.imul(rotateLeft(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotateLeft(Math.imul(input[at + 1]!, C2), 16), C3);
    h2 = (Math.imul(rotateLeft(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotateLeft(Math.imul(input[at + 2]!, C3), 17), C4);
    h3 = (Math.imul(rotateLeft(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotateLeft(Math.imul(input[at + 3]!, C4), 18), C1);
    h4 = (Math.imul(rotateLeft(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  h1 ^= Math.imul(rotateLeft(Math.imul(input[rest]!, C1), 15), C2) ^ byteLength;
  h2 ^= Math.imul(rotateLeft(Math.imul(input[rest + 1]!, C2), 16), C3) ^ byteLength;
  h3 ^= Math.imul(rotateLeft(Math.imul(input[rest + 2]!, C3), 17), C4) ^ byteLength;
  h4 ^= Math.imul(rotateLeft(Math.imul(input[rest + 3]!, C4), 18), C1) ^ byteLength;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = finalMix(h2 + h1);
  h3 = finalMix(h3 + h1);
  h4 = finalMix(h4 + h1);
  h1 = (finalMix(h1) + h2 + h3 + h4) | 0;
  hash[0] = h1;
  hash[1] = h2 + h1;
  hash[2] = h3 + h1;
  hash[3] = h4 + h1;
}

/**
 * MurmurHash3's `fmix32`: each bit of the word changes about half of the others, and no two words get the same result.
 */
export function finalMix(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
