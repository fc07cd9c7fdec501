import { joined } from "../../worker/rules/storing/joined.ts";

/**
 * A piece of a body that is to be kept. It keeps the buffer that it came in, which was made for what one read of a
 * connection brought; if most of that is not its own, it is copied.
 */
export function keptPiece(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = piece;
  if (byteLength * 2 < buffer.byteLength) return joined([piece], byteLength);
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
