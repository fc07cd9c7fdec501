import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";

/** The decoders, which with `info` also tell how many bytes they have read. */
const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { readonly info: true }) => unknown>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/**
 * The text of a body without the codings that its `Content-Encoding` names. A body that is not in them as a whole stays as
 * it is: a part, a body that was cut off, or the text of a scripted origin.
 */
export function bodyText(bytes: Buffer, contentEncoding?: string): string {
  try {
    const codings = contentEncoding?.toLowerCase().split(",") ?? [];
    return codings.reduceRight((rest, coding) => decoded(rest, coding.trim()), bytes).toString();
  } catch {
    return bytes.toString();
  }
}

function decoded(bytes: Buffer, coding: string): Buffer {
  const { buffer, engine } = DECODERS[coding]!(bytes, { info: true }) as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
  // A text like "v1" begins as an empty Brotli body does.
  if (engine.bytesWritten < bytes.length) throw new RangeError(`bytes follow the ${coding} body`);
  return buffer;
}
