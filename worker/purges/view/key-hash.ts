import type { PurgeMode } from "../../ports.ts";

/** A hash is two words of 32 bits. */
export const HASH_WORDS = 2;

/**
 * The hashes of purge keys, 64 bits each: MurmurHash3's rounds on two lanes that feed each other, over UTF-16 units.
 * Whoever finds two tags with one hash can make an entry a miss by purging the other; he cannot keep anything alive.
 * The log stores these hashes and isolates of several versions share them: a change here needs a new `FORM` of the log.
 */
export function hashKeys(keys: readonly string[]): Uint32Array {
  const words = new Uint32Array(keys.length * HASH_WORDS);
  for (const [index, key] of keys.entries()) hashInto(words, index * HASH_WORDS, key);
  return words;
}

/**
 * A word of the hash under which a key's purges of one mode are filed (R10). It maps words one to one, so keys that
 * differ stay different.
 */
export function inMode(word: number, mode: PurgeMode): number {
  return mode === "hard" ? word : finish(word ^ MODE_WORDS[mode]);
}

const MODE_WORDS = { soft: 0x5bd1e995, invalidate: 0x1b873593 } as const;

function hashInto(words: Uint32Array, at: number, text: string): void {
  let a = 0x9747b28c;
  let b = 0x3c6ef372;
  for (let index = 0; index < text.length; index += 4) {
    // Past the end a unit is NaN, which counts as 0 here; the length tells such texts apart.
    const first = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16);
    const second = text.charCodeAt(index + 2) | (text.charCodeAt(index + 3) << 16);
    a ^= Math.imul(rotate(Math.imul(first, 0x239b961b), 15), 0xab0e9789);
    a = (Math.imul(rotate(a, 19) + b, 5) + 0x561ccd1b) | 0;
    b ^= Math.imul(rotate(Math.imul(second, 0xab0e9789), 16), 0x38b34ae5);
    b = (Math.imul(rotate(b, 17) + a, 5) + 0x0bcaa747) | 0;
  }
  a = (a ^ text.length) + b;
  b = (b ^ text.length) + a;
  a = finish(a);
  b = finish(b);
  words[at] = a + b;
  words[at + 1] = b + words[at]!;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** MurmurHash3's last step: every bit of the word moves every other, and no two words come to the same. */
function finish(word: number): number {
  let mixed = word;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
