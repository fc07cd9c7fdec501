/** Pieces of a body, one after the other, in memory of their own. `bytes` is their sum. */
export function joined(pieces: Iterable<Uint8Array>, bytes: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}
