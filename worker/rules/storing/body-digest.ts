/**
 * A short text that tells bodies apart: their length and two 32-bit hashes of them (FNV-1a, from two beginnings). It is
 * computed at once, without I/O, and kept instead of the body. Whoever makes two bodies with one digest gains nothing:
 * then they count as the same page.
 */
export function bodyDigest(bytes: Uint8Array): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x5bd1e995);
  }
  return `${bytes.byteLength}-${(a >>> 0).toString(36)}-${(b >>> 0).toString(36)}`;
}
