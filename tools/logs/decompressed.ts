import { PassThrough, type Readable } from "node:stream";
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from "node:zlib";

/** The size of the pieces that are read and decompressed. */
export const CHUNK_BYTES = 512 * 1024;

/** A format shows in so many of a log's first bytes. */
const FORMAT_BYTES = 8;

type Decoder = Gunzip | ZstdDecompress;

/** The pieces of a log, decompressed. The first bytes tell the compression, not the name. */
export async function* decompressed(input: Readable, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  const pieces = counted(input, count);
  const first = await firstPiece(pieces);
  const makeDecoder = decoderFor(first);
  if (makeDecoder === null) {
    if (first.length > 0) yield first;
    yield* pieces;
    return;
  }
  // Node's decoder of zstd ends with a frame, and leaves the next one. Zeros only fill the end of a file.
  let rest = first;
  do rest = yield* decoded(makeDecoder(), rest, pieces);
  while (rest.length > 0 && rest[0] !== 0);
}

/** The first pieces as one that is long enough to tell its format: a pipe may have pieces of single bytes. */
async function firstPiece(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  let first = EMPTY;
  while (first.length < FORMAT_BYTES) {
    const { value, done } = await pieces.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  return first;
}

async function* counted(input: Readable, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const piece of input as AsyncIterable<Buffer>) {
    count(piece.length);
    yield piece;
  }
}

/** Decompresses until the decoder or the input ends. Returns what the decoder left of the last piece. */
async function* decoded(
  decoder: Decoder,
  first: Buffer,
  pieces: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, Buffer> {
  let failure: unknown;
  const output = decoder.pipe(new PassThrough({ highWaterMark: CHUNK_BYTES }));
  const fail = (cause: unknown) => {
    failure = cause;
    output.end();
  };
  decoder.on("error", fail);
  const feeding = feed(decoder, first, pieces).catch(fail);
  for await (const piece of output) yield piece as Buffer;
  const rest = await feeding;
  decoder.destroy();
  if (failure !== undefined) throw failure;
  return rest ?? EMPTY;
}

const EMPTY = Buffer.alloc(0);

async function feed(decoder: Decoder, first: Buffer, pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  const closed = new Promise<void>((resolve) => {
    decoder.once("close", resolve);
  });
  let fed = 0;
  for (let piece: IteratorResult<Buffer> = { value: first }; !piece.done; piece = await pieces.next()) {
    const { value } = piece;
    fed += value.length;
    await Promise.race([new Promise((resolve) => decoder.write(value, resolve)), closed]);
    const left = fed - decoder.bytesWritten;
    if (left > 0) return value.subarray(value.length - left);
  }
  decoder.end();
  return EMPTY;
}

function decoderFor(first: Buffer): (() => Decoder) | null {
  if (first[0] === 0x1f && first[1] === 0x8b) return () => createGunzip({ chunkSize: CHUNK_BYTES });
  const magic = first.length < 4 ? 0 : first.readUInt32LE(0);
  const isZstd = magic === 0xfd2fb528 || magic >>> 4 === 0x184d2a5; // RFC 8878 §3.1: a frame, or one to skip
  return isZstd ? () => createZstdDecompress({ chunkSize: CHUNK_BYTES }) : null;
}

/** What is not read, by its first bytes as hexadecimal digits, and the command that writes it as a log. */
const FOREIGN: readonly (readonly [start: RegExp, name: string, command: string])[] = [
  [/^fd377a585a00/, "xz", "xzcat"],
  [/^425a683[1-9](?:314159|177245)/, "bzip2", "bzcat"],
  [/^504b0304/, "zip", "unzip -p"],
  [/^(?:fffe|feff)/, "UTF-16", "iconv -f UTF-16 -t UTF-8"],
];

/** The format that a piece of a log shows to be none that is read; `undefined` if it shows none. */
export function foreignFormat(first: Buffer): { readonly name: string; readonly command: string } | undefined {
  const start = first.toString("hex", 0, FORMAT_BYTES);
  const [, name, command] = FOREIGN.find(([pattern]) => pattern.test(start)) ?? [];
  return name === undefined ? undefined : { name, command: command! };
}
