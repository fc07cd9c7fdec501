import type { Readable } from "node:stream";
import { WaitingPieces } from "./waiting-pieces.ts";

/**
 * Joins the small pieces that a source pushes into a stream before somebody reads them: for Node's limits and the windows of
 * HTTP/2 only their own bytes count, not the memory that each takes by itself.
 */
export function joinWaitingPieces(stream: Readable): void {
  const { push, read } = stream;
  const waiting = new WaitingPieces();
  const release = () => {
    for (let piece = waiting.shift(); piece; piece = waiting.shift()) push.call(stream, piece);
  };
  stream.push = (piece: Uint8Array | null) => {
    if (piece !== null && stream.readableLength > 0) {
      waiting.push(piece);
      return stream.readableLength + waiting.bytes < stream.readableHighWaterMark;
    }
    release();
    return push.call(stream, piece);
  };
  stream.read = (size) => {
    if (stream.readableLength === 0) release();
    return read.call(stream, size);
  };
}
