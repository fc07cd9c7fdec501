import { BLOCK_BYTES, murmurHash3 } from "../hashing/murmur-hash.ts";

/**
 * A short text that tells bodies apart: their length and MurmurHash3. It is computed at once, without I/O, and kept
 * instead of the body. Whoever makes two bodies with one digest gains nothing: then they count as the same page.
 */
export function bodyDigest(bytes: Uint8Array): string {
  const blocks = Math.floor(bytes.byteLength / BLOCK_BYTES) + 1;
  const input = new Uint32Array((blocks * BLOCK_BYTES) / 4);
  new Uint8Array(input.buffer).set(bytes);
  const hash = new Uint32Array(4);
  murmurHash3(input, bytes.byteLength, 0, hash);
  return `${bytes.byteLength}-${[...hash].map((word) => word.toString(36)).join("-")}`;
}
