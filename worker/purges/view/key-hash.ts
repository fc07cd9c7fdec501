import type { PurgeMode } from "../../ports/purge-log.ts";
import { BLOCK_BYTES, finalMix, murmurHash3 } from "../../rules/hashing/murmur-hash.ts";

/** The number of 32-bit words in a hash. */
export const HASH_WORDS = 2;

/** The most bytes that one UTF-16 code unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

const encoder = new TextEncoder();

/**
 * The hashes of purge keys: the first 64 bits of the MurmurHash3_x86_128 of their UTF-8, with seed 0. Anybody who finds
 * two tags with the same hash can turn an entry into a miss by purging the other tag, but cannot keep a purged entry
 * alive. The log stores these hashes, and isolates of several versions share them, so a change here needs a new
 * `STORAGE_FORMAT` of the log and a new `VERSION` of the shared copies.
 */
export function hashKeys(keys: readonly string[]): Uint32Array {
  const hashes = new Uint32Array(keys.length * HASH_WORDS);
  const hash = new Uint32Array(4);
  const longest = keys.reduce((most, { length }) => Math.max(most, length), 0);
  const { bytes, words } = keyBuffer(longest * MAX_UNIT_BYTES + BLOCK_BYTES);
  for (const [index, key] of keys.entries()) {
    murmurHash3(words, writePadded(key, bytes), 0, hash);
    hashes[index * HASH_WORDS] = hash[0]!;
    hashes[index * HASH_WORDS + 1] = hash[1]!;
  }
  return hashes;
}

/**
 * A word of the hash under which the purges of a key in one mode are recorded (R10). The mapping is one to one, so keys
 * with different hashes stay different.
 */
export function hashWordFor(mode: PurgeMode, word: number): number {
  return mode === "hard" ? word : finalMix(word ^ MODE_WORDS[mode]);
}

const MODE_WORDS = { soft: 0x5bd1e995, invalidate: 0x1b873593 } as const;

/** Writes the text as UTF-8, followed by a block of zeros. Returns its length in bytes. */
function writePadded(text: string, bytes: Uint8Array): number {
  const byteLength = writeAscii(text, bytes) ? text.length : encoder.encodeInto(text, bytes).written;
  for (let at = byteLength; at < byteLength + BLOCK_BYTES; at++) bytes[at] = 0;
  return byteLength;
}

/**
 * Writes the text if it is ASCII; otherwise returns false. Almost all keys are ASCII, and a call of the encoder takes
 * longer than hashing.
 */
function writeAscii(text: string, bytes: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit > 0x7f) return false;
    bytes[index] = unit;
  }
  return true;
}

function keyBuffer(byteLength: number): { readonly bytes: Uint8Array; readonly words: Uint32Array } {
  const buffer = new ArrayBuffer(Math.ceil(byteLength / BLOCK_BYTES) * BLOCK_BYTES);
  return { bytes: new Uint8Array(buffer), words: new Uint32Array(buffer) };
}
