import { BLOCK_BYTES, murmurHash3 } from "../hashing/murmur-hash.ts";

const BLOCK_WORDS = BLOCK_BYTES / 4;

/** Bodies of up to 64 KiB are hashed here, so that no memory is made for each. */
const room = new Uint32Array(16 * 1024);
const hash = new Uint32Array(4);
const characters = new Uint16Array(hash.buffer);

/**
 * A short text that tells bodies apart: their length and MurmurHash3, as two characters for each word. It is computed
 * at once, without I/O, and kept instead of the body. An attacker gains nothing by two bodies with one digest: they
 * count as the same page.
 */
export function bodyDigest(bytes: Uint8Array): string {
  const words = (Math.floor(bytes.byteLength / BLOCK_BYTES) + 1) * BLOCK_WORDS;
  const input = words <= room.length ? room : new Uint32Array(words);
  input.fill(0, words - BLOCK_WORDS, words);
  new Uint8Array(input.buffer).set(bytes);
  murmurHash3(input, bytes.byteLength, 0, hash);
  return `${bytes.byteLength} ${String.fromCharCode(...characters)}`;
}
