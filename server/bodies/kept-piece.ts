import { joined } from "../../worker/rules/storing/joined.ts";

/**
 * Prepares a piece of a body to be kept. A piece shares the buffer of one read of the connection, and is copied if most
 * of that buffer holds other bytes.
 */
export function keptPiece(piece: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = piece;
  if (byteLength * 2 < buffer.byteLength) return joined([piece], byteLength);
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
