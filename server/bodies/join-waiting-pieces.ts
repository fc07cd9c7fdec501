import type { Readable } from "node:stream";
import { GrowingBytes } from "./growing-bytes.ts";

const SMALL_PIECE_BYTES = 4 * 1024;
const MAX_JOINED_BYTES = 16 * 1024;

/**
 * Joins the small pieces that a source pushes into a stream before somebody reads them. Each takes up to 400 bytes of memory
 * by itself, but for Node's limits and the windows of HTTP/2 only its own bytes count.
 */
export function joinWaitingPieces(stream: Readable): void {
  const { push, read } = stream;
  const joined = new GrowingBytes();
  const release = () => {
    if (joined.length === 0) return;
    const { bytes } = joined;
    joined.clear();
    push.call(stream, bytes);
  };
  stream.push = (piece: Uint8Array | null) => {
    if (piece !== null && piece.byteLength < SMALL_PIECE_BYTES && stream.readableLength > 0) {
      if (joined.length + piece.byteLength > MAX_JOINED_BYTES) release();
      joined.add(piece);
      return stream.readableLength + joined.length < stream.readableHighWaterMark;
    }
    release();
    return push.call(stream, piece);
  };
  stream.read = (size) => {
    if (stream.readableLength === 0) release();
    return read.call(stream, size);
  };
}
