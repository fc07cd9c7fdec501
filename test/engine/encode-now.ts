import { type BrotliOptions, brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Encode, withHeader } from "../../server/compression/encode.ts";

/** Codes without other threads, so that the seed decides when it is done. */
export const encodeNow: Encode = async (coding, body, _, dictionary) => {
  const by = dictionary ? { dictionary: dictionary.bytes } : {};
  switch (coding) {
    case "br":
      return new Uint8Array(brotliCompressSync(body));
    case "gzip":
      return new Uint8Array(gzipSync(body));
    case "zstd":
      return new Uint8Array(zstdCompressSync(body));
    case "dcb":
      return withHeader(coding, brotliCompressSync(body, by as BrotliOptions), dictionary!);
    case "dcz":
      return withHeader(coding, zstdCompressSync(body, by), dictionary!);
  }
};
