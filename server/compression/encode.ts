import { promisify } from "node:util";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import type { Coding } from "../../worker/rules/variants/accept-encoding.ts";

/** Codes a body. Rejects if it cannot. */
export type Encode = (coding: Coding, body: Uint8Array, level: number) => Promise<Uint8Array<ArrayBuffer>>;

const brotli = promisify(brotliCompress);
const zipped = promisify(gzip);
const zstandard = promisify(zstdCompress);

/** Codes on Node's own threads, so that the event loop goes on. */
export const encode: Encode = async (coding, body, level) => {
  const chunkSize = pieceBytes(body.byteLength);
  const coded = await encodeBy(coding, body, level, chunkSize);
  // A copy of just the bytes: a part of a larger buffer would hold all of that.
  return new Uint8Array(coded);
};

function encodeBy(coding: Coding, body: Uint8Array, level: number, chunkSize: number): Promise<Buffer> {
  switch (coding) {
    case "br":
      return brotli(body, {
        chunkSize,
        params: {
          [constants.BROTLI_PARAM_QUALITY]: level,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
          [constants.BROTLI_PARAM_LGWIN]: windowBits(body.byteLength, 10, 22),
        },
      });
    case "gzip":
      return zipped(body, { chunkSize, level });
    case "zstd":
      return zstandard(body, {
        chunkSize,
        pledgedSrcSize: body.byteLength,
        params: {
          [constants.ZSTD_c_compressionLevel]: level,
          // Clients need not know windows of more than 8 MB. RFC 9659 §3.
          [constants.ZSTD_c_windowLog]: windowBits(body.byteLength, 10, 23),
        },
      });
  }
}

/** As large a piece as most coded bodies are, because each costs a turn on another thread. */
function pieceBytes(bodyBytes: number): number {
  return Math.min(Math.max(4096, Math.ceil(bodyBytes / 3)), 1024 * 1024);
}

/** The smallest window that holds the body. */
function windowBits(bodyBytes: number, least: number, most: number): number {
  return Math.min(Math.max(least, Math.ceil(Math.log2(bodyBytes + 1))), most);
}
