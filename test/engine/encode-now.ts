import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { Encode } from "../../server/compression/encode.ts";

/** Codes without other threads, so that the seed decides when it is done. */
export const encodeNow: Encode = async (coding, body) => {
  switch (coding) {
    case "br":
      return new Uint8Array(brotliCompressSync(body));
    case "gzip":
      return new Uint8Array(gzipSync(body));
    case "zstd":
      return new Uint8Array(zstdCompressSync(body));
  }
};
