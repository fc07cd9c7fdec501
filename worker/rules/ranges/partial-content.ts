import type { BytePart } from "./range.ts";

/** `Content-Range` of a part. RFC 9110 §14.4. */
export function contentRange(part: BytePart, lengthBytes: number): string {
  return `bytes ${part.first}-${part.last}/${lengthBytes}`;
}

/** `Content-Range` of a 416. RFC 9110 §14.4, §15.5.17. */
export function unsatisfiedRange(lengthBytes: number): string {
  return `bytes */${lengthBytes}`;
}

/** Several parts as one body: its fields, and its texts and slices in order. */
export interface MultipartByteranges {
  /** The `Content-Type` of the whole body. */
  readonly contentType: string;
  /** The length of the whole body, with its texts in UTF-8. */
  readonly lengthBytes: number;
  readonly pieces: readonly (string | BytePart)[];
}

/**
 * The body of a 206 with several parts. RFC 9110 §14.6, §15.3.7.2. It begins with an empty line, as that of nginx and
 * Apache does, because zsync skips one. `contentType` is the type of the stored body, `null` for none. `boundary` is a
 * token of up to 70 characters that does not occur in the body; the caller generates a random one.
 */
export function multipartByteranges(
  parts: readonly BytePart[],
  lengthBytes: number,
  contentType: string | null,
  boundary: string,
): MultipartByteranges {
  const typeLine = contentType === null ? "" : `Content-Type: ${contentType}\r\n`;
  const pieces = parts.flatMap((part) => [
    `\r\n--${boundary}\r\n${typeLine}Content-Range: ${contentRange(part, lengthBytes)}\r\n\r\n`,
    part,
  ]);
  pieces.push(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/byteranges; boundary=${boundary}`,
    lengthBytes: pieces.reduce((sum, piece) => sum + pieceBytes(piece), 0),
    pieces,
  };
}

function pieceBytes(piece: string | BytePart): number {
  return typeof piece === "string" ? new TextEncoder().encode(piece).length : piece.last - piece.first + 1;
}
